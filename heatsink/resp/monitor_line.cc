// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/monitor_line.h"

#include <charconv>

#include "heatsink/resp/inline_request.h"

namespace heatsink::resp {
namespace {

constexpr std::uint64_t kSecondsMax = 9'000'000'000;
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

template <class T>
bool take_number(std::string_view& text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

bool take(std::string_view& text, std::string_view word) {
  if (!text.starts_with(word)) return false;
  text.remove_prefix(word.size());
  return true;
}

// Parses seconds and six digits separately: one double cannot hold both to the nanosecond.
bool take_time(std::string_view& text, std::int64_t& at_ns) {
  std::uint64_t seconds = 0;
  if (!take_number(text, seconds) || seconds > kSecondsMax) return false;
  at_ns = static_cast<std::int64_t>(seconds) * kNanosPerSecond;
  if (!take(text, ".")) return false;
  std::int64_t unit = kNanosPerSecond / 10;
  while (!text.empty() && text[0] >= '0' && text[0] <= '9') {
    at_ns += (text[0] - '0') * unit;
    unit /= 10;
    text.remove_prefix(1);
  }
  return true;
}

// The end of the last complete argument: after an unescaped quote that a blank follows.
std::size_t whole_arguments(std::string_view arguments) {
  std::size_t end = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (quoted && arguments[i] == '\\') {
      ++i;
    } else if (arguments[i] == '"') {
      quoted = !quoted;
      if (!quoted && i + 1 < arguments.size()) end = i + 1;
    }
  }
  return end;
}

}  // namespace

// A client's address never contains "] " (the path of a Unix socket may contain anything else).
std::optional<MonitorHead> parse_monitor_head(std::string_view line) {
  MonitorHead head;
  if (!take_time(line, head.at_ns) || !take(line, " [") || !take_number(line, head.db) ||
      !take(line, " "))
    return std::nullopt;
  const std::size_t end = line.find("] \"");
  if (end == std::string_view::npos) return std::nullopt;
  head.client = line.substr(0, end);
  head.arguments = line.substr(end + 2);
  return head;
}

bool split_monitor_arguments(std::string_view arguments, bool cut, std::string& text,
                             std::vector<std::string_view>& args) {
  if (cut) arguments = arguments.substr(0, whole_arguments(arguments));
  return split_inline(arguments, text, args) && !args.empty();
}

}  // namespace heatsink::resp
