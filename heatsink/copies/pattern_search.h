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

// A pass walks one database with SCAN on its own connection: one page of kPageKeys at a time, and
// at most kKeysPerSecond scanned keys per second. Found keys are warmed as fast as the order
// allows. Meanwhile no further page is requested, so at most one page waits. Keys without room are
// counted and the pass goes on to its end, so that the order's result says how many were left out.
// A lost connection restarts the pass.
//
// Each search warms a key once. So a key that was ended by hand stays ended in later passes.
//
// The keeper's thread. No clock, no socket: the owner connects protocol().
class PatternSearch {
 public:
  struct Order {
    report::WarmPattern pattern;
    std::uint32_t source = Warmer::kByHand;
    TimePoint until{};
    Nanos again_after{0};  // pause after a pass; 0: a single pass
  };
  // A page takes 70 us of the server's one thread (with a million keys, on a busy machine). At this
  // rate all pages take 4 % of it.
  static constexpr std::size_t kPageKeys = 100;
  static constexpr double kKeysPerSecond = 50'000;
  // Without a connection for this long, the pass fails.
  static constexpr Nanos kUpWithin = std::chrono::seconds(3);
  // Until a failed search of a configured window is tried again.
  static constexpr Nanos kRetryInterval = std::chrono::seconds(30);

  PatternSearch(std::uint64_t id, Order order, const NodeState& shared, TimePoint now)
      : id_(id), order_(std::move(order)), shared_(shared), due_at_(now) {}
  PatternSearch(const PatternSearch&) = delete;

  const Order& order() const { return order_; }
  std::uint64_t id() const { return id_; }
  bool searching() const { return state_ == State::kSearching; }
  bool is_due(TimePoint now) const { return state_ == State::kWaiting && now >= due_at_; }
  bool over() const { return state_ >= State::kFinished; }

  // Begins a pass. The caller connects protocol(), which lives while searching().
  void begin(TimePoint now);
  redis::ConnectionProtocol& protocol() { return *pipeline_; }
  // Call it often, best ten times per page interval.
  void step(TimePoint now, Warmer& warmer);
  void end(const std::string& why);  // keys that are warmed stay warmed

  // keys(): each key with its result. Call it only when the search is over: there may be thousands.
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
  void reset_pass(const std::string& why);
  void finish_pass(TimePoint now);
  void fail(const std::string& why, TimePoint now);

  const std::uint64_t id_;
  const Order order_;
  const NodeState& shared_;
  State state_ = State::kWaiting;
  std::string note_;
  TimePoint due_at_;  // of the next pass

  // The current pass.
  std::optional<redis::Pipeline> pipeline_;
  std::string cursor_;
  bool asked_ = false;       // a page was requested
  bool at_end_ = false;      // the cursor is 0 again
  std::string refusal_;      // the server's error instead of a page
  TimePoint answered_at_{};  // when the server was last there; at first the start
  TimePoint next_page_at_{};
  double keys_in_db_ = 0;
  double looked_at_ = 0;
  std::deque<std::string> page_;  // found, but not begun yet
  std::size_t found_ = 0;
  std::size_t left_out_ = 0;
  std::vector<std::string> left_out_names_;

  // All passes.
  TimePoint next_key_at_{};
  std::vector<KeyHash> loading_;
  std::vector<report::WarmKey> keys_;  // in the order they were begun
  std::unordered_set<std::uint64_t> begun_;
};

}  // namespace heatsink::copies
