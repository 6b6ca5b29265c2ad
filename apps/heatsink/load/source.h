// SPDX-License-Identifier: Apache-2.0
// Chooses the operations of a load: first each key once, then the mix of reads and writes.
#pragma once

#include <cstdint>
#include <optional>
#include <variant>
#include <vector>

#include "apps/heatsink/load/key_list.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/random.h"
#include "heatsink/base/zipf.h"

namespace heatsink::app {

// Operation n is due at start + n / rate. Latency counts from when an operation was due, not from
// when it could be sent: otherwise a server that stalls is asked less and looks fast ("coordinated
// omission", Gil Tene). Time is an argument; not thread-safe.
class Pacer {
 public:
  // Operations that could not be sent for this long are dropped and counted, so that no flood
  // follows an outage.
  static constexpr Nanos kBacklogMax = std::chrono::seconds(1);

  // `per_second` 0: as fast as possible, every operation is due now. REQUIRES: per_second >= 0.
  Pacer(double per_second, TimePoint start) : per_second_(per_second), start_(start) {}

  // The time at which the next operation was due; nothing if it is after `now`.
  std::optional<TimePoint> next(TimePoint now);

  std::uint64_t given_up() const { return given_up_; }

 private:
  TimePoint due(std::uint64_t operation) const;

  double per_second_;
  TimePoint start_;
  std::uint64_t operation_ = 0;
  std::uint64_t given_up_ = 0;
};

struct Operation {
  std::uint64_t rank;  // of the key: key_name(rank), or KeyList::name(rank)
  bool write;
  TimePoint due;  // latency counts from here
};

// One per worker, used by its connections on its thread.
class OperationSource {
 public:
  virtual ~OperationSource() = default;
  virtual std::optional<Operation> next(TimePoint now) = 0;
  virtual void answered() {}              // called for each reply, also an error
  virtual void lost(const Operation&) {}  // called if the connection ends before the reply
};

// Writes the ranks first, first + step, first + 2 step ... below `keys`, and repeats each until the
// server has replied.
class PreloadSource final : public OperationSource {
 public:
  PreloadSource(std::uint64_t first, std::uint64_t step, std::uint64_t keys);
  std::optional<Operation> next(TimePoint now) override;
  void answered() override { ++answered_; }
  void lost(const Operation& operation) override { again_.push_back(operation.rank); }

  std::uint64_t answered_count() const { return answered_; }
  bool done() const { return answered_ == total_; }

 private:
  std::uint64_t next_;
  std::uint64_t step_;
  std::uint64_t keys_;
  std::uint64_t total_;
  std::uint64_t answered_ = 0;
  std::vector<std::uint64_t> again_;
};

// Plays the positions first, first + step, first + 2 step ... of a list, and then again. Does not
// own the list. REQUIRES: the list is not empty.
class ListOrder {
 public:
  ListOrder(const KeyList& list, std::size_t first, std::size_t step)
      : list_(list), next_(first % list.length()), step_(step) {}
  std::uint64_t rank() {
    const std::uint64_t rank = list_.rank_at(next_);
    next_ = (next_ + step_) % list_.length();
    return rank;
  }

 private:
  const KeyList& list_;
  std::size_t next_;
  std::size_t step_;
};

// Reads keys by a law or in the order of a list, and writes to the same keys. `write_ratio` 0 .. 1.
class MixedSource final : public OperationSource {
 public:
  using Keys = std::variant<Zipf, ListOrder>;
  MixedSource(Keys keys, double write_ratio, Random random, Pacer pacer)
      : keys_(keys), write_ratio_(write_ratio), random_(random), pacer_(pacer) {}
  std::optional<Operation> next(TimePoint now) override;
  std::uint64_t given_up() const { return pacer_.given_up(); }

 private:
  Keys keys_;
  double write_ratio_;
  Random random_;
  Pacer pacer_;
};

}  // namespace heatsink::app
