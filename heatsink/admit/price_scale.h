// SPDX-License-Identifier: Apache-2.0
// Compares the CPU time that a thread takes with what prices predict for its work.
#pragma once

#include <algorithm>

namespace heatsink::admit {

// How many times prices, which are of one machine, are taken.
struct Scale {
  double value = 1;
  bool is_measured = false;  // false: what is believed weighs more than what was measured
};

// What is measured is one figure for all of a thread's work, so it scales all of its prices: a
// slower machine makes each of them dearer. A thread also takes time without such work (timers,
// summaries). Both are found by least squares over about a minute (Belief::kept), in which later
// calls count more:
//
//   used = scale * predicted + idle * elapsed
//
// While the work is always the same, one equation does not tell the two apart. Then they stay close
// to what they were believed to be (ridge regression: Hoerl and Kennard, 1970). Without that, the
// fewer fills there are, the dearer each of them would look, and in the end there were none.
//
// One thread; no clock; O(1).
class PriceScale {
 public:
  static constexpr double kMin = 0.1, kMax = 10;

  // What is believed at first (the keeper's, unless another is given), and how firmly: as if it had
  // been measured once against so much work by prices, and once over so long without work.
  struct Belief {
    double scale = 1;
    double idle = 0.02;  // of a second
    double work_s = 0.05, idle_s = 2.236;
    double kept = 0.98;             // of earlier calls, per call
    double min = kMin, max = kMax;  // of the scale
  };
  PriceScale() : PriceScale(Belief()) {}
  explicit PriceScale(const Belief& belief) : belief_(belief) {
    belief_.scale = std::clamp(belief_.scale, belief_.min, belief_.max);
    value_ = belief_.scale;
  }

  // Since the last call, of about a second: the CPU time that was used, the part of it that the
  // prices predict, and how long it was; all in seconds. Instead of the time another measure may
  // stand for what the prices leave out. `predicted` may be negative: time that is spared.
  void note(double used, double predicted, double elapsed);
  double value() const { return value_; }
  Scale scale() const { return {value_, is_measured_}; }

 private:
  // Sums of products: p predicted, e elapsed, u used.
  double pp_ = 0, pe_ = 0, ee_ = 0, pu_ = 0, eu_ = 0;
  Belief belief_;
  double value_;
  bool is_measured_ = false;
};

}  // namespace heatsink::admit
