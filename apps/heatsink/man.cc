// SPDX-License-Identifier: Apache-2.0
// heatsink man [PAGE]: the manual pages, written from the flags, the options and the metrics.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string_view>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/manual/man_page.h"
#include "apps/heatsink/metrics.h"
#include "apps/heatsink/verb_facts.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/option.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/version.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/policy/options.h"

namespace heatsink::app {
namespace {

// The date of the pages is that of the sources, which package builds have in this variable, so that
// two builds of one version write the same bytes. "": none.
std::string date_of_sources() {
  const char* const text = std::getenv("SOURCE_DATE_EPOCH");  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) return "";
  const std::string_view digits = text;
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), seconds);
  constexpr std::int64_t kYear9999 = 253'402'300'799;
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || seconds < 0 || seconds > kYear9999) return "";
  const std::string time = iso_time(WallTime(std::chrono::seconds(seconds)));
  return time.substr(0, time.find('T'));
}

std::vector<ManualPage> all_pages() {
  const Edition edition{version(), date_of_sources()};
  const std::vector<CommandFacts> commands = facts_of(verbs());
  std::vector<ManualPage> pages{program_page(commands, edition)};
  for (const CommandFacts& command : commands) pages.push_back(command_page(command, edition));
  policy::ProxyOptions proxy;
  OptionSet options;
  proxy.describe(options);
  pages.push_back(file_page(options, edition));
  pages.push_back(metrics_page(all_metric_rows(), edition));
  return pages;
}

// A page by the name of its file, with or without the section; or by its verb alone.
const ManualPage* find(const std::vector<ManualPage>& pages, const std::string& name) {
  const auto is_meant = [&](const ManualPage& page) {
    const std::string without_section = page.file.substr(0, page.file.rfind('.'));
    return name == page.file || name == without_section || "heatsink-" + name == without_section;
  };
  const auto page = std::ranges::find_if(pages, is_meant);
  return page == pages.end() ? nullptr : &*page;
}

int write_into(const std::string& folder, const std::vector<ManualPage>& pages) {
  for (const ManualPage& page : pages) {
    const std::filesystem::path path = std::filesystem::path(folder) / page.file;
    std::ofstream file(path);
    file << page.text << std::flush;
    if (!file.good()) {
      std::cerr << "heatsink man: cannot write " << printable(path.string(), 256)
                << ": is its folder there?\n";
      return kFailed;
    }
  }
  return kDone;
}

}  // namespace

int run_man(int argc, char** argv) {
  std::string name, folder;
  CLI::App app(
      "Prints a manual page in the format of man(7), or without PAGE the list of pages. "
      "To read one: heatsink man proxy | man -l -");
  CLI::Option* const page_option = app.add_option(
      "PAGE", name, "The page: a verb, or a name of the list, with or without its section");
  app.add_option("--folder", folder, "Write all pages into this folder")
      ->type_name("FOLDER")
      ->excludes(page_option);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  const std::vector<ManualPage> pages = all_pages();
  if (!folder.empty()) return write_into(folder, pages);
  if (name.empty()) {
    for (const ManualPage& page : pages) std::cout << page.file << "\n";
  } else if (const ManualPage* const page = find(pages, name)) {
    std::cout << page->text;
  } else {
    std::cerr << "heatsink man: there is no page '" << printable(name, 64)
              << "' ('heatsink man' lists them)\n";
    return kMisused;
  }
  std::cout.flush();
  return std::cout.good() ? kDone : kFailed;
}

}  // namespace heatsink::app
