// SPDX-License-Identifier: Apache-2.0
// A server of a fleet in memory: the commands that members use, with their times, and faults.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heatsink/fleet/port.h"

namespace heatsink::fleet {

// Answers after `latency`, when deliver() has come to that time. One thread.
class MemoryServer final : public Port {
 public:
  Nanos latency = Millis(1);
  // Every command gets this instead of its answer; "": none. "-": no answer at all.
  std::string fault;
  std::function<bool(const std::vector<std::string>&)> is_faulty =
      [](const std::vector<std::string>&) { return true; };
  TimePoint now{};
  std::uint64_t commands = 0;
  std::uint64_t bytes_in = 0, bytes_out = 0;

  void ask(std::vector<std::string> words, Done done) override {
    answers_.push_back({now + latency, run(words), std::move(done)});
  }

  // Calls what is due until `until`.
  void deliver(TimePoint until) {
    while (!answers_.empty() && answers_.front().due <= until) {
      Answer answer = std::move(answers_.front());
      answers_.pop_front();
      now = std::max(now, answer.due);
      answer.done(std::move(answer.reply), now);
    }
    now = std::max(now, until);
  }
  TimePoint due() const { return answers_.empty() ? TimePoint::max() : answers_.front().due; }

  void set(const std::string& key, std::string value) {
    strings_[key] = {std::move(value), TimePoint::max()};
  }
  std::string get(const std::string& key) { return std::string(view(key)); }
  std::set<std::string>& members(const std::string& key) {
    Set& set = sets_[key];
    if (set.ends <= now) set = {};
    return set.members;
  }

 private:
  struct Answer {
    TimePoint due;
    Result<resp::Value> reply;
    Done done;
  };
  struct String {
    std::string value;
    TimePoint ends;
  };
  struct Set {
    std::set<std::string> members;
    TimePoint ends = TimePoint::max();
  };

  std::string_view view(const std::string& key) const {
    const auto found = strings_.find(key);
    if (found == strings_.end() || found->second.ends <= now) return {};
    return found->second.value;
  }

  static resp::Value text(resp::Value::Type type, std::string what) {
    resp::Value value;
    value.type = type;
    value.text = std::move(what);
    return value;
  }

  Result<resp::Value> run(const std::vector<std::string>& words) {
    ++commands;
    for (const std::string& word : words) bytes_in += word.size();
    if (!fault.empty() && is_faulty(words)) {
      if (fault == "-") return Error{ErrorCode::kUnavailable, "the connection was lost"};
      return text(resp::Value::Type::kError, fault);
    }
    resp::Value reply = execute(words);
    bytes_out += reply.text.size();
    return reply;
  }

  resp::Value execute(const std::vector<std::string>& words) {
    const std::string& command = words[0];
    const std::string& key = words[1];
    if (command == "SET") return set_with_options(words);
    if (command == "GETRANGE")
      return text(resp::Value::Type::kString,
                  std::string(view(key).substr(0, std::stoull(words[3]) + 1)));
    if (command == "SADD") members(key).insert(words[2]);
    if (command == "SREM") members(key).erase(words[2]);
    if (command == "PEXPIRE") {
      const TimePoint ends = now + Millis(std::stoll(words[2]));
      if (strings_.contains(key)) strings_[key].ends = ends;
      if (!members(key).empty()) sets_[key].ends = ends;
    }
    resp::Value reply;
    if (command == "SRANDMEMBER") {
      reply.type = resp::Value::Type::kArray;
      for (const std::string& member : members(key))
        reply.items.push_back(text(resp::Value::Type::kString, member));
      return reply;
    }
    reply.type = resp::Value::Type::kInteger;
    reply.integer = 1;
    return reply;
  }

  resp::Value set_with_options(const std::vector<std::string>& words) {
    const bool is_new = std::find(words.begin(), words.end(), "NX") != words.end();
    if (is_new && !view(words[1]).empty()) return {};
    strings_[words[1]] = {words[2], now + Millis(std::stoll(words.back()))};
    return text(resp::Value::Type::kSimple, "OK");
  }

  std::unordered_map<std::string, String> strings_;
  std::unordered_map<std::string, Set> sets_;
  std::deque<Answer> answers_;
};

}  // namespace heatsink::fleet
