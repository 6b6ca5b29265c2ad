// SPDX-License-Identifier: Apache-2.0
// Keeps what a target has still to be told, and decides when to try. Time is an argument.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "heatsink/alerts/alert.h"

namespace heatsink::alerts {

// The outcome of one attempt.
struct Outcome {
  enum class Kind : std::uint8_t {
    kDelivered,
    kRetry,    // later it may work: no connection, a timeout, status 500
    kRefused,  // it never will: status 404
  } kind = Kind::kDelivered;
  std::string problem = {};  // a sentence, without secrets; "" if delivered
  Nanos wait_at_least{0};    // what the target asks for (Retry-After)
};

// One thread, or a lock of the caller. Calls match (add | take attempted)*: between take() that
// returns notices and attempted() only add() is allowed.
class Delivery {
 public:
  static constexpr std::size_t kWaitingMax = 256;
  static constexpr std::size_t kMessageMax = 20;  // notices in one message: at most about 40 KB
  static constexpr Nanos kPauseMin = std::chrono::seconds(1);
  static constexpr Nanos kPauseMax = std::chrono::minutes(1);
  static constexpr Nanos kAskedPauseMax = std::chrono::minutes(10);  // of wait_at_least

  explicit Delivery(Nanos retry_for) : retry_for_(retry_for) {}

  // Replaces an older notice about the same alert that still waits. When full, the oldest is
  // dropped.
  void add(Notice notice, TimePoint now);
  // The next message; empty: none is due. Oldest first.
  std::vector<Notice> take(TimePoint now);
  void attempted(const Outcome& outcome, TimePoint now);

  // When take() has something; TimePoint::max(): nothing waits.
  TimePoint due_at() const { return waiting_.empty() ? TimePoint::max() : try_at_; }
  std::size_t waiting() const { return waiting_.size() + taken_.size(); }
  std::vector<Notice> undelivered() const;
  std::uint64_t dropped_full() const { return dropped_full_; }
  std::uint64_t dropped_late() const { return dropped_late_; }        // past retry_for
  std::uint64_t dropped_refused() const { return dropped_refused_; }  // by the target

 private:
  struct Waiting {
    Notice notice;
    TimePoint added_at;
  };
  void put_back(TimePoint now);
  bool waits(const std::string& identity) const;

  Nanos retry_for_;
  std::deque<Waiting> waiting_;
  std::vector<Waiting> taken_;
  TimePoint try_at_{};
  Nanos pause_{0};  // 0: the last attempt was good
  std::uint64_t dropped_full_ = 0, dropped_late_ = 0, dropped_refused_ = 0;
};

}  // namespace heatsink::alerts
