// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/page_files.h"

#include <string>
#include <string_view>

namespace heatsink::admin {
namespace {

struct PageFile {
  std::string_view path;
  const char* content_type;
  std::string_view text;
};

// Made by web/embed.py from the files in web/page.
constexpr PageFile kFiles[] = {
#include "page_files.inc"
};

}  // namespace

std::vector<httpd::Route> page_files() {
  std::vector<httpd::Route> out;
  for (const PageFile& file : kFiles) {
    httpd::Route route{file.path, "", httpd::Pace::kAtOnce, [&file](const httpd::Question&) {
                         return httpd::Answer{200, std::string(file.text), file.content_type};
                       }};
    route.is_open = true;
    out.push_back(std::move(route));
  }
  return out;
}

}  // namespace heatsink::admin
