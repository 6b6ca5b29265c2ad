// SPDX-License-Identifier: Apache-2.0
// Asks the server about the values of single keys, when a person inspects a key.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/copies/node_state.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/redis.h"

namespace heatsink::copies {

// It asks as the proxy's own user. The first question opens the connection, which closes after
// kKeptFor without a question. Six cheap commands per question. The keeper's thread.
class KeyInspector {
 public:
  static constexpr Nanos kTick = Millis(100);
  static constexpr Nanos kAnswerWithin = Millis(1500);
  static constexpr Nanos kKeptFor = std::chrono::seconds(60);
  static constexpr std::size_t kQuestionsMax = 64;  // pending at once

  // `problem`: a sentence why facts are missing, or "".
  using Done = std::function<void(const redis::ValueFacts& facts, const std::string& problem)>;

  KeyInspector(net::EventLoop& loop, NodeState& shared);
  ~KeyInspector();
  KeyInspector(const KeyInspector&) = delete;

  // Calls `done` exactly once, now or in a later turn, after kAnswerWithin + kTick at the latest.
  void ask(std::string_view name, std::uint32_t db, TimePoint now, Done done);
  void tick(TimePoint now);  // every kTick

 private:
  struct Connection;
  struct Question {
    redis::ValueFacts facts;
    TimePoint answer_by{};
    Done done;  // empty: already called
    void end(const std::string& problem);
  };

  static void take(Question& question, std::size_t part, const Result<resp::Value>& reply);

  net::EventLoop& loop_;
  NodeState& shared_;
  std::vector<std::shared_ptr<Question>> questions_;
  std::unique_ptr<Connection> connection_;
  TimePoint asked_at_{};
};

}  // namespace heatsink::copies
