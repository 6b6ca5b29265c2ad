// SPDX-License-Identifier: Apache-2.0
// Counts how many commands a worker gets at once, and says how many wake-ups hits spare a server.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace heatsink::copies {

// A worker sends the commands of a turn together, so a server wakes up once for all of them: a hit
// spares that only if hits answer the whole batch. With n at once that is h^n of the turns, if h of
// the commands are hits. The mean of n does not say it. Where 50 clients bunch on a busy machine,
// half of the turns may have one command and the rest twenty: then hits spare 20 times as many
// wake-ups as in turns of ten each (docs/decisions/0127).
//
// One thread. Sums in which older turns may count less.
class BatchSizes {
 public:
  // A turn with so many commands of clients, forwarded or answered from copies.
  void note(std::uint64_t commands) {
    if (commands > 0) ++turns_[std::min<std::size_t>(std::bit_width(commands), kSizes) - 1];
  }
  BatchSizes& operator+=(const BatchSizes& more) {
    for (std::size_t i = 0; i < kSizes; ++i) turns_[i] += more.turns_[i];
    return *this;
  }
  // REQUIRES that `now` has all turns of `then`.
  friend BatchSizes operator-(const BatchSizes& now, const BatchSizes& then) {
    BatchSizes left = now;
    for (std::size_t i = 0; i < kSizes; ++i) left.turns_[i] -= then.turns_[i];
    return left;
  }
  void decay(double kept) {
    for (double& each : turns_) each *= kept;
  }
  double turns() const {
    double all = 0;
    for (const double each : turns_) all += each;
    return all;
  }

  // Wake-ups of a server that each hit spares, where hits answer this share (0 .. 1) of the
  // commands, and a turn's commands are spread over so many connections. REQUIRES turns() > 0.
  double spared_by_hit(double hits, double connections) const {
    const double share = std::clamp(hits, kShareMin, 1.0);
    double spared = 0, answered = 0;
    for (std::size_t i = 0; i < kSizes; ++i) {
      const double batches = std::clamp(connections, 1.0, kMean[i]);
      spared += turns_[i] * batches * std::pow(share, kMean[i] / batches);
      answered += turns_[i] * kMean[i] * share;
    }
    return spared / answered;
  }

 private:
  static constexpr std::size_t kSizes = 7;  // 1, 2 to 3, 4 to 7, ... 64 and more
  static constexpr std::array<double, kSizes> kMean{1, 2.5, 5.5, 11.5, 23.5, 47.5, 96};
  static constexpr double kShareMin = 1e-3;

  std::array<double, kSizes> turns_{};
};

}  // namespace heatsink::copies
