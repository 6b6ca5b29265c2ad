// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/warm_window.h"

#include <time.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace heatsink::policy {
namespace {

using std::chrono::seconds;

constexpr seconds kDay = std::chrono::hours(24);
constexpr std::array<std::string_view, 7> kDays = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

// Removes a two-digit number below `limit` from the front of `text`.
std::optional<int> take_two(std::string_view& text, int limit) {
  if (text.size() < 2) return std::nullopt;
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!digit(text[0]) || !digit(text[1])) return std::nullopt;
  const int value = (text[0] - '0') * 10 + (text[1] - '0');
  text.remove_prefix(2);
  return value < limit ? std::optional(value) : std::nullopt;
}

// "19:55" or "19:55:30".
std::optional<seconds> parse_time(std::string_view text) {
  seconds out{0};
  seconds unit = std::chrono::hours(1);
  for (int part = 0; part < 3; ++part, unit /= 60) {
    if (part > 0) {
      if (!text.starts_with(':')) return std::nullopt;
      text.remove_prefix(1);
    }
    const std::optional<int> value = take_two(text, part == 0 ? 24 : 60);
    if (!value) return std::nullopt;
    out += *value * unit;
    if (part >= 1 && text.empty()) return out;
  }
  return std::nullopt;
}

std::optional<std::size_t> day_of(std::string_view name) {
  const auto* const found = std::find(kDays.begin(), kDays.end(), name);
  if (found == kDays.end()) return std::nullopt;
  return static_cast<std::size_t>(found - kDays.begin());
}

// Adds "mon-fri" or "mon" to `days`. A range may wrap around the week: "sat-mon".
bool add_days(std::string_view text, std::bitset<7>& days) {
  const std::size_t dash = text.find('-');
  const std::optional<std::size_t> first = day_of(text.substr(0, dash));
  const std::optional<std::size_t> last =
      dash == std::string_view::npos ? first : day_of(text.substr(dash + 1));
  if (!first || !last) return false;
  for (std::size_t day = *first;; day = (day + 1) % kDays.size()) {
    days.set(day);
    if (day == *last) return true;
  }
}

std::optional<std::bitset<7>> parse_days(std::string_view text) {
  std::bitset<7> days;
  if (text.empty()) return days.set();
  while (true) {
    const std::size_t comma = text.find(',');
    if (!add_days(text.substr(0, comma), days)) return std::nullopt;
    if (comma == std::string_view::npos) return days;
    text.remove_prefix(comma + 1);
  }
}

Error wrong(const char* member, const std::string& text, const char* form) {
  return invalid_argument(std::string(member) + " is '" + text + "': " + form);
}

}  // namespace

Result<Zone> Zone::parse(std::string_view text) {
  Zone zone;
  if (text == "local") return zone;
  zone.fixed_ = seconds(0);
  if (text == "UTC") return zone;
  const bool is_offset = text.starts_with('+') || text.starts_with('-');
  const std::optional<seconds> offset = parse_time(text.substr(is_offset ? 1 : 0));
  // UTC+14:00 (Kiribati) is the largest offset in use.
  if (!is_offset || !offset || *offset > std::chrono::hours(14))
    return wrong("zone", std::string(text), "write local, UTC, or an offset as +02:00");
  zone.fixed_ = text.front() == '-' ? -*offset : *offset;
  return zone;
}

seconds Zone::offset_at(WallTime at) const {
  if (fixed_) return *fixed_;
  const time_t moment = std::chrono::system_clock::to_time_t(at);
  tm shown{};
  localtime_r(&moment, &shown);
  return seconds(shown.tm_gmtoff);
}

Result<WarmWindow> WarmWindow::parse(const Text& text) {
  constexpr const char* kTimeForm = "write a time of day, as in 19:55";
  WarmWindow window;
  const std::optional<seconds> from = parse_time(text.from);
  if (!from) return wrong("from", text.from, kTimeForm);
  const std::optional<seconds> until = parse_time(text.until);
  if (!until) return wrong("until", text.until, kTimeForm);
  if (*from == *until) return wrong("until", text.until, "it must differ from the value of from");
  const std::optional<std::bitset<7>> days = parse_days(text.days);
  if (!days) return wrong("days", text.days, "write days as in mon-fri or sat,sun");
  const Result<Zone> zone = Zone::parse(text.zone);
  if (!zone.ok()) return zone.error();
  window.from_ = *from;
  window.until_ = *until;
  window.days_ = *days;
  window.zone_ = *zone;
  return window;
}

std::optional<WallTime> WarmWindow::open_until(WallTime now) const {
  const seconds offset = zone_.offset_at(now);
  const auto shown = std::chrono::floor<seconds>(now.time_since_epoch()) + offset;
  const auto day = std::chrono::floor<std::chrono::days>(shown);
  const seconds time = shown - day;
  // 1 January 1970 was a Thursday.
  const auto weekday = static_cast<std::size_t>(((day.count() + 4) % 7 + 7) % 7);
  const bool over_midnight = until_ < from_;
  const bool is_evening = time >= from_ && (over_midnight || time < until_) && days_[weekday];
  // A window past midnight belongs to the day before.
  const bool is_morning = over_midnight && time < until_ && days_[(weekday + 6) % 7];
  if (!is_evening && !is_morning) return std::nullopt;
  const seconds left = (is_evening && over_midnight ? until_ + kDay : until_) - time;
  const WallTime end = WallTime(shown - offset) + left;
  return end - (zone_.offset_at(end) - offset);  // corrects the end if the clocks change before it
}

Result<WallTime> next_time_of_day(const std::string& text, WallTime now) {
  const std::optional<seconds> time = parse_time(text);
  if (!time) return wrong("until", text, "write a time of day, as in 20:30");
  const Zone zone = *Zone::parse("local");
  const seconds offset = zone.offset_at(now);
  const auto shown = std::chrono::floor<seconds>(now.time_since_epoch()) + offset;
  const auto today = std::chrono::floor<std::chrono::days>(shown);
  const seconds next = today + *time + (shown - today < *time ? seconds(0) : kDay);
  const WallTime end(next - offset);
  return end - (zone.offset_at(end) - offset);
}

}  // namespace heatsink::policy
