// SPDX-License-Identifier: Apache-2.0
// What `redis-cli MONITOR` prints: 1339518083.107412 [0 127.0.0.1:60866] "get" "user:1"
//
// Only the names of keys are kept, never another argument: a value or a password is forgotten with
// its line.
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heatsink/replay/line_reader.h"
#include "heatsink/replay/operation.h"
#include "heatsink/resp/resp.h"

namespace heatsink::replay {
namespace {

constexpr double kSecondsMax = 9e9;
constexpr std::int64_t kNanosPerSecond = 1'000'000'000;

struct Head {
  std::int64_t at_ns = 0;
  std::uint32_t db = 0;
  bool from_script = false;
  std::string_view arguments;
};

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

// Seconds and six digits; apart, since a double of both cannot hold the nanoseconds.
bool take_time(std::string_view& text, std::int64_t& at_ns) {
  std::uint64_t seconds = 0;
  if (!take_number(text, seconds) || static_cast<double>(seconds) > kSecondsMax) return false;
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

// A client's address never holds "] " (a path of a Unix socket may hold anything else).
std::optional<Head> parse_head(std::string_view line) {
  Head head;
  if (!take_time(line, head.at_ns) || !take(line, " [") || !take_number(line, head.db) ||
      !take(line, " "))
    return std::nullopt;
  const std::size_t end = line.find("] \"");
  if (end == std::string_view::npos) return std::nullopt;
  head.from_script = line.substr(0, end) == "lua";
  head.arguments = line.substr(end + 2);
  return head;
}

class MonitorReader final : public LineReader {
 public:
  std::string_view format() const override { return "MONITOR output"; }

  std::string_view take(std::string_view line, TraceBuilder& out) override {
    if (line.empty() || line == "OK" || line == "\"OK\"") return "";
    const std::optional<Head> head = parse_head(line);
    if (!head) return "it is no line of MONITOR";
    if (head->from_script) {  // its EVAL had its own line
      ++out.facts().keyless;
      return "";
    }
    if (!resp::split_inline(head->arguments, text_, arguments_) || arguments_.empty())
      return "its quotes are wrong";
    add_keys(*head, out);
    return "";
  }

 private:
  void add_keys(const Head& head, TraceBuilder& out) {
    const resp::Command* command = commands_.find(arguments_);
    keys_.clear();
    if (command != nullptr) (void)resp::find_keys(*command, arguments_, keys_);
    if (keys_.empty()) ++out.facts().keyless;
    const bool is_get = command != nullptr && is_copied_read(command->name);
    for (const resp::KeyRef& key : keys_) {
      RawAccess access{arguments_[key.arg], head.db, head.at_ns, Operation::kRead, {}};
      if (key.write) access.operation = Operation::kWrite;
      if (is_get) access.operation = Operation::kGet;
      if (!out.add(access)) return;
    }
  }

  resp::CommandTable commands_ = resp::CommandTable::built_in();
  std::string text_;
  std::vector<std::string_view> arguments_;
  std::vector<resp::KeyRef> keys_;
};

}  // namespace

std::unique_ptr<LineReader> monitor_reader(std::string_view first_line) {
  if (first_line != "OK" && first_line != "\"OK\"" && !parse_head(first_line)) return nullptr;
  return std::make_unique<MonitorReader>();
}

}  // namespace heatsink::replay
