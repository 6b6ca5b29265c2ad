// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/rate.h"

#include <fmt/format.h>

#include <charconv>

#include "heatsink/base/units.h"

namespace heatsink::limit {
namespace {

constexpr const char* kForm = "write a count per time, as in 5000/s, 100/10s or 1/h";

Error malformed(std::string_view text) {
  return invalid_argument(fmt::format("'{}' is not a rate: {}", text, kForm));
}

}  // namespace

double Rate::per_second() const {
  return static_cast<double>(count) / std::chrono::duration<double>(per).count();
}

Result<Rate> parse_rate(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos || slash + 1 == text.size()) return malformed(text);
  Rate rate;
  const char* end = text.data() + slash;
  const auto [stopped, error] = std::from_chars(text.data(), end, rate.count);
  if (error != std::errc() || stopped != end) return malformed(text);
  const std::string_view time = text.substr(slash + 1);
  const bool has_count = time.front() >= '0' && time.front() <= '9';
  const Result<Nanos> per =
      parse_duration(has_count ? std::string(time) : fmt::format("1{}", time));
  if (!per) return malformed(text);
  rate.per = *per;
  if (const Status checked = check_rate(rate); !checked) return checked.error();
  return rate;
}

std::string format_rate(const Rate& rate) {
  std::string per = format_duration(rate.per);
  if (per.size() > 1 && per.front() == '1' && (per[1] < '0' || per[1] > '9')) per.erase(0, 1);
  return fmt::format("{}/{}", rate.count, per);
}

Status check_rate(const Rate& rate) {
  const auto refused = [](std::string why) {
    return Error{ErrorCode::kOutOfRange, std::move(why)};
  };
  if (rate.per < kPerMin || rate.per > kPerMax)
    return refused("the time of a rate must be from 1ms to 24h");
  if (rate.count == 0)
    return refused("a rate must be at least 1 per day; 0 would refuse everything");
  if (rate.per_second() > static_cast<double>(kPerSecondMax))
    return refused(fmt::format("a rate must be at most {}/s", kPerSecondMax));
  return Unit{};
}

}  // namespace heatsink::limit
