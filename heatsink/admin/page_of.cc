// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/page_of.h"

#include <charconv>
#include <utility>

#include "heatsink/base/printable.h"

namespace heatsink::admin {

httpd::Route::Page page_of(SharedSources sources, PageOf of, std::vector<std::string> takes) {
  return
      [sources = std::move(sources), of, takes = std::move(takes)](const httpd::Question& asked) {
        if (const auto name = httpd::unknown_parameter(asked.query, takes))
          return httpd::Answer{400, "unknown parameter '" + printable(*name, 64) + "'\n"};
        return of(*sources, asked);
      };
}

std::optional<std::uint64_t> whole_number_in(const std::string& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<WallTime> day_time_in(const std::string& text) {
  constexpr std::uint64_t kLastSecond = 253'402'300'799;  // of the year 9999
  const std::optional<std::uint64_t> seconds = whole_number_in(text);
  if (!seconds || *seconds > kLastSecond / 100) return std::nullopt;
  return WallTime(std::chrono::seconds(*seconds));
}

}  // namespace heatsink::admin
