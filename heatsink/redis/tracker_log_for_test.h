// SPDX-License-Identifier: Apache-2.0
// For tests: records the tracker's events, one line per callback.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/redis/tracker.h"

namespace heatsink::redis {

class TrackerLog final : public TrackerEvents {
 public:
  void on_facts(const ServerFacts& facts) override {
    add("facts " + facts.version + (facts.open ? " open" : " closed") +
        (facts.commands == nullptr ? " no commands" : " commands"));
  }
  void on_up() override {
    add("up");
    if (when_up) when_up();
  }
  void on_heartbeat(TimePoint sent_at) override { add("heartbeat " + ms(sent_at)); }
  void on_invalidate(std::string_view name) override { add("invalidate " + std::string(name)); }
  void on_flush() override { add("flush"); }
  void on_server_use(const ServerUse& use) override {
    if (!use.problem.empty()) return add("use: " + use.problem);
    const auto hundredths = std::llround(100 * use.cpu_s);
    const std::string fraction = std::to_string(100 + hundredths % 100).substr(1);
    add("use " + std::to_string(hundredths / 100) + "." + fraction + " s, " +
        std::to_string(std::llround(use.commands)) + " commands");
  }
  void on_exchanges_known(TimePoint asked_at) override { exchanges_known_at = asked_at; }
  void on_filled(FillReply& reply) override {
    add("filled " + std::to_string(reply.id) + " " + outcome(reply.outcome) + " sent " +
        ms(reply.sent_at) + (reply.ttl ? " ttl " + ms(TimePoint(*reply.ttl)) : "") +
        (reply.spoiled ? " spoiled" : "") +
        (reply.outcome == FillReply::Outcome::kValue ? " \"" + text(reply) + "\"" : "") +
        (reply.refusal.empty() ? "" : " " + reply.refusal));
  }
  void on_barrier(std::uint64_t token) override { add("barrier " + std::to_string(token)); }
  void on_rights_changed() override { add("rights changed"); }
  void on_down(const std::string& reason) override {
    add("down");
    last_reason = reason;
  }

  // All lines since the last call.
  std::vector<std::string> take() { return std::exchange(lines_, {}); }
  const std::vector<std::string>& lines() const { return lines_; }

  std::function<void()> when_up;
  std::string last_reason;
  TimePoint exchanges_known_at{};

 private:
  void add(std::string line) { lines_.push_back(std::move(line)); }

  static std::string ms(TimePoint time) {
    return std::to_string(std::chrono::duration_cast<Millis>(time.time_since_epoch()).count());
  }

  // The string in a reply. For other replies: the bytes, and those in RESP2 if they differ.
  static std::string text(const FillReply& reply) {
    resp::Value value;
    std::size_t consumed = 0;
    const bool parsed =
        resp::parse_value(reply.reply, value, consumed) == resp::ValueStatus::kValue;
    if (parsed && value.type == resp::Value::Type::kString) return value.text;
    std::string both = reply.reply + (reply.resp2.empty() ? "" : " | ") + reply.resp2;
    std::erase(both, '\r');
    std::replace(both.begin(), both.end(), '\n', ' ');
    return both;
  }

  static const char* outcome(FillReply::Outcome outcome) {
    switch (outcome) {
      case FillReply::Outcome::kValue:
        return "value";
      case FillReply::Outcome::kNil:
        return "nil";
      case FillReply::Outcome::kTooBig:
        return "too big";
      case FillReply::Outcome::kRefused:
        return "refused";
      case FillReply::Outcome::kTableFull:
        return "table full";
      case FillReply::Outcome::kNoDatabase:
        return "no database";
      case FillReply::Outcome::kFailed:
        return "failed";
    }
    return "?";
  }

  std::vector<std::string> lines_;
};

}  // namespace heatsink::redis
