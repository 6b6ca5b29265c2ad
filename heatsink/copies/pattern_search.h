// SPDX-License-Identifier: Apache-2.0
// Finds the keys whose names match a pattern, page by page, and has them warmed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/copies/warmer.h"
#include "heatsink/redis/redis.h"
#include "heatsink/report/warming.h"

namespace heatsink::copies {

// A pass walks one database with SCAN on a connection of its own: one page under way, kPageKeys
// each, and so many in a second that the server looks at kKeysPerSecond. What it finds begins to be
// warmed as fast as the order allows, and meanwhile no further page is asked for, so that no more
// than one page waits. What finds no place is counted, and the pass goes on to its end: whoever
// ordered it wants to know how many are left out. A connection that breaks begins the pass anew.
//
// A key is begun once per search, so what somebody has ended by hand stays ended in later passes.
//
// The keeper's thread. No clock, no socket: the connection is whatever carries protocol().
class PatternSearch {
 public:
  struct Order {
    report::WarmPattern pattern;
    std::uint32_t source = Warmer::kByHand;
    TimePoint until{};
    Nanos again_after{0};  // the end of a pass; 0: one pass
  };
  // A page is 70 us of the server's one thread (among a million keys, on a busy machine), and at
  // this rate all of them are 4 % of it.
  static constexpr std::size_t kPageKeys = 100;
  static constexpr double kKeysPerSecond = 50'000;
  static constexpr Nanos kUpWithin = std::chrono::seconds(3);  // else the pass has failed
  // Of a window's, until it is tried again.
  static constexpr Nanos kRetryInterval = std::chrono::seconds(30);

  PatternSearch(std::uint64_t id, Order order, const NodeState& shared, TimePoint now)
      : id_(id), order_(std::move(order)), shared_(shared), due_at_(now) {}
  PatternSearch(const PatternSearch&) = delete;

  const Order& order() const { return order_; }
  std::uint64_t id() const { return id_; }
  bool searching() const { return state_ == State::kSearching; }
  bool is_due(TimePoint now) const { return state_ == State::kWaiting && now >= due_at_; }
  bool over() const { return state_ >= State::kFinished; }

  // A new pass; the caller connects protocol(), which lives as long as the pass is searching().
  void begin(TimePoint now);
  redis::ConnectionProtocol& protocol() { return *pipeline_; }
  // Often: ten times as often as pages are to be had at most costs nothing but the calls. Whoever
  // calls publishes the table afterwards.
  void step(TimePoint now, Warmer& warmer);
  void end(const std::string& why);  // what is warmed stays so

  // Its keys with what became of each: only when it is over, since they may be thousands.
  report::WarmSearch report(const Warmer& warmer) const;
  std::vector<report::WarmedKey> keys(const Warmer& warmer) const;

 private:
  using State = report::WarmSearch::State;

  void ask(TimePoint now);
  void take_page(Result<resp::Value> page);
  void admit(TimePoint now, Warmer& warmer);
  bool may_begin(TimePoint now) const;
  void begin_key(std::string name, TimePoint now, Warmer& warmer);
  void leave_out(const std::string& name, const std::string& why);
  void lose(const std::string& why);
  void finish_pass(TimePoint now);
  void fail(const std::string& why, TimePoint now);

  const std::uint64_t id_;
  const Order order_;
  const NodeState& shared_;
  State state_ = State::kWaiting;
  std::string note_;
  TimePoint due_at_;  // of the next pass

  // Of this pass.
  std::optional<redis::Pipeline> pipeline_;
  std::string cursor_;
  bool asked_ = false;       // a page is under way
  bool at_end_ = false;      // its cursor is 0 again
  std::string refusal_;      // what the server said instead of a page
  TimePoint answered_at_{};  // or begun, when the server was there last
  TimePoint next_page_at_{};
  double keys_in_db_ = 0;
  double looked_at_ = 0;
  std::deque<std::string> page_;  // found, not begun yet
  std::size_t found_ = 0;
  std::size_t left_out_ = 0;
  std::vector<std::string> left_out_names_;

  // Of all passes.
  TimePoint next_key_at_{};
  std::vector<KeyHash> loading_;
  std::vector<report::WarmKey> keys_;  // begun, in that order
  std::unordered_set<std::uint64_t> begun_;
};

}  // namespace heatsink::copies
