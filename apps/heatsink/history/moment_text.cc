// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/history/moment_text.h"

#include <time.h>

#include <chrono>
#include <optional>

#include "heatsink/base/printable.h"
#include "heatsink/base/units.h"

namespace heatsink::app {
namespace {

tm local(WallTime time) {
  const time_t seconds = std::chrono::system_clock::to_time_t(time);
  tm out{};
  localtime_r(&seconds, &out);
  return out;
}

std::string text_of(WallTime time, const char* form) {
  const tm parts = local(time);
  char text[64];
  return {text, strftime(text, sizeof(text), form, &parts)};
}

WallTime local_moment(tm parts) {
  parts.tm_isdst = -1;  // mktime() finds out
  return std::chrono::system_clock::from_time_t(mktime(&parts));
}

// The whole text must have the form.
bool has_form(const std::string& text, const char* form, tm& parts) {
  const char* const end = strptime(text.c_str(), form, &parts);
  return end != nullptr && *end == '\0';
}

std::optional<WallTime> with_date(const std::string& text) {
  for (const char* const form : {"%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%MZ"}) {
    tm parts{};
    if (has_form(text, form, parts)) return std::chrono::system_clock::from_time_t(timegm(&parts));
  }
  for (const char* const form :
       {"%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y-%m-%d %H:%M", "%Y-%m-%d"}) {
    tm parts{};
    if (has_form(text, form, parts)) return local_moment(parts);
  }
  return std::nullopt;
}

// `days_ago`: nothing: today, or yesterday if that is still to come.
std::optional<WallTime> of_the_day(const std::string& text, std::optional<int> days_ago,
                                   WallTime now) {
  for (const char* const form : {"%H:%M:%S", "%H:%M"}) {
    tm parts = local(now);
    parts.tm_sec = 0;
    if (!has_form(text, form, parts)) continue;
    tm day = parts;
    day.tm_mday -= days_ago.value_or(0);
    const WallTime moment = local_moment(day);
    if (days_ago || moment <= now) return moment;
    --parts.tm_mday;
    return local_moment(parts);
  }
  return std::nullopt;
}

}  // namespace

Result<WallTime> parse_moment(std::string_view text, WallTime now) {
  const std::string whole(text);
  if (whole == "now") return now;
  if (const Result<Nanos> ago = parse_duration(text); ago.ok())
    return now - std::chrono::duration_cast<WallTime::duration>(*ago);
  constexpr std::string_view kYesterday = "yesterday ";
  const bool is_yesterday = text.starts_with(kYesterday);
  if (const auto moment = is_yesterday ? of_the_day(whole.substr(kYesterday.size()), 1, now)
                                       : of_the_day(whole, std::nullopt, now))
    return *moment;
  if (const auto moment = with_date(whole)) return *moment;
  return invalid_argument("'" + printable(text, 64) +
                          "' is no time; write 15:00, 'yesterday 15:00', '2026-11-28 15:00', "
                          "2026-11-28T15:00:00Z, 90m (so long ago) or now");
}

std::string day_text(WallTime time) { return text_of(time, "%Y-%m-%d %H:%M:%S"); }
std::string clock_text(WallTime time) { return text_of(time, "%H:%M:%S"); }
std::string zone_text(WallTime time) { return text_of(time, "%z"); }

}  // namespace heatsink::app
