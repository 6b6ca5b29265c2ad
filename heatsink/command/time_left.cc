// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/time_left.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/command/ascii.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {
namespace {

struct TimeoutPlace {
  std::size_t arg = 0;
  bool in_seconds = true;  // else in milliseconds
};

// nullopt: the command has no time-out that is known here.
std::optional<TimeoutPlace> timeout_of(const std::vector<std::string_view>& args) {
  const auto is = [&](std::string_view name) { return equals_ignoring_case(args[0], name); };
  constexpr std::array<std::string_view, 6> kLast = {"blpop",    "brpop",    "brpoplpush",
                                                     "bzpopmin", "bzpopmax", "blmove"};
  if (args.size() < 3) return std::nullopt;
  if (std::any_of(kLast.begin(), kLast.end(), is)) return TimeoutPlace{args.size() - 1, true};
  if (is("blmpop") || is("bzmpop")) return TimeoutPlace{1, true};
  if (is("wait") || is("waitaof")) return TimeoutPlace{args.size() - 1, false};
  if (!is("xread") && !is("xreadgroup")) return std::nullopt;
  for (std::size_t i = 1; i + 1 < args.size(); ++i) {
    if (equals_ignoring_case(args[i], "streams")) break;
    if (equals_ignoring_case(args[i], "block")) return TimeoutPlace{i + 1, false};
  }
  return std::nullopt;
}

// Rounded up, so that the sum of all waits is not shorter than asked.
std::string shortened(std::string_view text, const TimeoutPlace& place, Nanos waited) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool sound = error == std::errc{} && end == text.data() + text.size() && value > 0;
  if (!sound) return std::string(text);
  const double passed = std::chrono::duration<double>(waited).count();
  const double left_ms = (place.in_seconds ? value * 1000 : value) - passed * 1000;
  const auto whole_ms = static_cast<std::int64_t>(std::max(1.0, std::ceil(left_ms)));
  if (!place.in_seconds) return std::to_string(whole_ms);
  std::string fraction = std::to_string(whole_ms % 1000);
  fraction.insert(0, 3 - fraction.size(), '0');
  return std::to_string(whole_ms / 1000) + "." + fraction;
}

}  // namespace

std::string with_time_left(std::string_view wire, Nanos waited) {
  resp::RequestParser parser;
  if (parser.parse(wire) != resp::ParseStatus::kRequest || parser.args().empty())
    return std::string(wire);
  std::vector<std::string_view> args = parser.args();
  const std::optional<TimeoutPlace> place = timeout_of(args);
  if (!place) return std::string(wire);
  const std::string left = shortened(args[place->arg], *place, waited);
  args[place->arg] = left;
  ByteBuffer out;
  resp::append_request(out, args);
  return std::string(out.view());
}

}  // namespace heatsink::proxy
