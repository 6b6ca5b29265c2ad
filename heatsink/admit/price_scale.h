// SPDX-License-Identifier: Apache-2.0
// Compares the CPU time that a thread takes with what prices predict for its work.
#pragma once

namespace heatsink::admit {

// What is measured is one figure for all of a thread's work, so it scales all of its prices: a
// slower machine makes each of them dearer. A thread also takes time without such work (timers,
// summaries). Both are found by least squares over about a minute, in which later calls count more:
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

  // What is believed at first: a scale of 1, and `idle`. How firmly: as by sums of squares of
  // `predicted` and `elapsed` that had been measured.
  struct Belief {
    double idle, scale_firm, idle_firm;
    double min, max;  // of the scale
  };
  // As if it had been measured once against work of 50 ms by prices, and for five seconds.
  static constexpr Belief kOfThread{0.02, 0.05 * 0.05, 5, kMin, kMax};

  explicit PriceScale(const Belief& belief = kOfThread) : belief_(belief) {}

  // Since the last call, of about a second: the CPU time that was used, the part of it that the
  // prices predict, and how long it was; all in seconds. Instead of the time another measure may
  // stand for what the prices leave out. `predicted` may be negative: time that is spared.
  void note(double used, double predicted, double elapsed);
  double value() const { return value_; }

 private:
  Belief belief_;
  // Sums of products: p predicted, e elapsed, u used.
  double pp_ = 0, pe_ = 0, ee_ = 0, pu_ = 0, eu_ = 0;
  double value_ = 1;
};

}  // namespace heatsink::admit
