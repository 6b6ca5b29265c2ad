// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/dry_run_lines.h"

#include <fmt/format.h>

#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <limits>

#include "heatsink/tui/tui.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

constexpr std::size_t kKeyLinesMax = 20;

double figure_in(const json::object& from, const char* name) {
  const json::value* const value = from.if_contains(name);
  return value != nullptr && value->is_number() ? value->to_number<double>()
                                                : std::numeric_limits<double>::quiet_NaN();
}

std::string words_in(const json::object& from, const char* name) {
  const json::value* const value = from.if_contains(name);
  return value != nullptr && value->is_string() ? tui::safe_text(std::string(value->get_string()))
                                                : "";
}

std::string keys_text(double keys) {
  return keys == 1 ? std::string("1 key") : tui::count_text(keys) + " keys";
}

std::string summary_of(const json::object& run) {
  const double all = figure_in(run, "requests_all");
  const double low = figure_in(run, "requests_at_least");
  std::string out = fmt::format(
      "{} would have matched at least {}, with {} to {} of {} requests", words_in(run, "match"),
      keys_text(figure_in(run, "keys_at_least")), tui::count_text(low),
      tui::count_text(figure_in(run, "requests_at_most")), tui::count_text(all));
  if (all > 0) out += fmt::format(" (at least {})", tui::percent_text(low / all));
  return out + fmt::format(", from {} to {}", words_in(run, "from"), words_in(run, "to"));
}

void add_remarks(const json::object& run, std::vector<std::string>& lines) {
  if (const double kept = figure_in(run, "kept_keys"); kept > 0)
    lines.push_back(fmt::format("{} that match keep a more specific rule ({} requests)",
                                keys_text(kept), tui::count_text(figure_in(run, "kept_requests"))));
  if (const double cut = figure_in(run, "undecided_keys"); cut > 0)
    lines.push_back(keys_text(cut) + " with long names may match, too");
  if (const json::value* const whole = run.if_contains("whole");
      whole != nullptr && whole->is_bool() && !whole->get_bool())
    lines.emplace_back("the pattern is slow to match, so only the busiest keys were looked at");
}

std::string line_of(const json::object& key) {
  const json::value* const applies = key.if_contains("applies");
  const bool keeps = applies != nullptr && applies->is_bool() && !applies->get_bool();
  return fmt::format("{:>8} {:>9}  {}{}", tui::count_text(figure_in(key, "requests")),
                     tui::rate_text(figure_in(key, "peak_rate")), words_in(key, "name"),
                     keeps ? "  (keeps the rule " + words_in(key, "rule") + ")" : "");
}

}  // namespace

Result<std::vector<std::string>> dry_run_lines(std::string_view text) {
  boost::system::error_code error;
  const json::value parsed = json::parse(json::string_view(text.data(), text.size()), error);
  const json::value* const keys =
      !error && parsed.is_object() ? parsed.get_object().if_contains("keys") : nullptr;
  if (keys == nullptr || !keys->is_array())
    return Error{ErrorCode::kProtocol, "its answer is not that of heatsink's admin API"};
  const json::object& run = parsed.get_object();
  std::vector<std::string> lines{summary_of(run)};
  add_remarks(run, lines);
  if (keys->get_array().empty()) return lines;
  lines.emplace_back("requests   peak/s  key");
  for (const json::value& each : keys->get_array()) {
    if (!each.is_object()) continue;
    if (lines.size() > kKeyLinesMax + 4) {
      lines.emplace_back("... (--json lists more)");
      break;
    }
    lines.push_back(line_of(each.get_object()));
  }
  return lines;
}

}  // namespace heatsink::app
