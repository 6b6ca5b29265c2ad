// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/swap_count.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace heatsink::redis {
namespace {

constexpr std::string_view kLine = "cmdstat_";
constexpr std::string_view kSwap = "cmdstat_swapdb:";
constexpr std::string_view kCalls = ":calls=";

// The number behind "cmdstat_get:calls="; 0: none.
std::uint64_t calls_in(std::string_view line) {
  const std::size_t at = line.find(kCalls);
  if (at == std::string_view::npos) return 0;
  const std::string_view digits = line.substr(at + kCalls.size());
  std::uint64_t calls = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), calls);
  return calls;
}

}  // namespace

// A server counts INFO itself, so from the second answer on there is at least one line.
std::optional<SwapCount::Counted> SwapCount::count(std::string_view commandstats) {
  Counted counted;
  bool has_lines = false;
  while (!commandstats.empty()) {
    const std::size_t end = std::min(commandstats.find('\n'), commandstats.size() - 1);
    const std::string_view line = commandstats.substr(0, end);
    commandstats.remove_prefix(end + 1);
    if (!line.starts_with(kLine)) continue;
    has_lines = true;
    counted.calls += calls_in(line);
    if (line.starts_with(kSwap)) counted.swaps = line.substr(kSwap.size());
  }
  if (!has_lines) return std::nullopt;
  return counted;
}

SwapCount::Finding SwapCount::look(std::string_view commandstats) {
  std::optional<Counted> now = count(commandstats);
  if (!now) {
    last_.reset();
    return Finding::kUnknown;
  }
  const std::optional<Counted> before = std::exchange(last_, std::move(now));
  if (!before) return Finding::kUnknown;
  const bool same = before->swaps == last_->swaps && before->calls <= last_->calls;
  return same ? Finding::kSame : Finding::kSwapped;
}

}  // namespace heatsink::redis
