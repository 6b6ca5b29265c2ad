// SPDX-License-Identifier: Apache-2.0
// Reads the output of `redis-cli MONITOR`: 1339518083.107412 [0 127.0.0.1:60866] "get" "user:1"
//
// Keeps only key names and drops all other arguments, because they may be values or passwords.
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "heatsink/base/heartbeat_key.h"
#include "heatsink/replay/line_reader.h"
#include "heatsink/replay/trace.h"
#include "heatsink/resp/resp.h"

namespace heatsink::replay {
namespace {

class MonitorReader final : public LineReader {
 public:
  std::string_view format() const override { return "MONITOR output"; }

  std::string_view take(std::string_view line, TraceBuilder& out) override {
    if (line.empty() || line == "OK" || line == "\"OK\"") return "";
    const std::optional<resp::MonitorHead> head = resp::parse_monitor_head(line);
    if (!head) return "it is not a line of MONITOR";
    if (head->from_script()) {  // its EVAL had a line of its own
      ++out.facts().keyless;
      return "";
    }
    if (!resp::split_monitor_arguments(head->arguments, false, text_, arguments_))
      return "its quotes do not match";
    add_keys(*head, out);
    return "";
  }

 private:
  void add_keys(const resp::MonitorHead& head, TraceBuilder& out) {
    const resp::Command* command = commands_.find(arguments_);
    keys_.clear();
    if (command != nullptr) (void)resp::find_keys(*command, arguments_, keys_);
    if (keys_.empty()) ++out.facts().keyless;
    if (is_heartbeat(command)) {
      out.facts().behind_proxy = true;
      return;
    }
    const bool is_get = command != nullptr && is_copied_read(command->name);
    for (const resp::KeyRef& key : keys_) {
      RawAccess access{arguments_[key.arg], head.db, head.at_ns, Operation::kRead, {}};
      if (key.write) access.operation = Operation::kWrite;
      if (is_get) access.operation = Operation::kGet;
      if (!out.add(access)) return;
    }
  }

  bool is_heartbeat(const resp::Command* command) const {
    return keys_.size() == 1 && command->name == "exists" &&
           is_heartbeat_key(arguments_[keys_[0].arg]);
  }

  resp::CommandTable commands_ = resp::CommandTable::built_in();
  std::string text_;
  std::vector<std::string_view> arguments_;
  std::vector<resp::KeyRef> keys_;
};

}  // namespace

std::unique_ptr<LineReader> monitor_reader(std::string_view first_line) {
  if (first_line != "OK" && first_line != "\"OK\"" && !resp::parse_monitor_head(first_line))
    return nullptr;
  return std::make_unique<MonitorReader>();
}

}  // namespace heatsink::replay
