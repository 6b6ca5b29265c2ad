// SPDX-License-Identifier: Apache-2.0
// Chooses the operations of a load: first each key once, then the skewed mix.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "apps/heatsink/load/pacer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/random.h"
#include "heatsink/base/zipf.h"

namespace heatsink::app {

struct Operation {
  std::uint64_t rank;  // key_name(rank)
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

// Reads keys by Zipf, and writes to the same keys. `write_ratio` 0 .. 1.
class SkewedSource final : public OperationSource {
 public:
  SkewedSource(const Zipf& zipf, double write_ratio, Random random, Pacer pacer)
      : zipf_(zipf), write_ratio_(write_ratio), random_(random), pacer_(pacer) {}
  std::optional<Operation> next(TimePoint now) override;
  std::uint64_t given_up() const { return pacer_.given_up(); }

 private:
  Zipf zipf_;
  double write_ratio_;
  Random random_;
  Pacer pacer_;
};

}  // namespace heatsink::app
