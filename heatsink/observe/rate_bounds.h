// SPDX-License-Identifier: Apache-2.0
// Calculates a rate and its bounds from the counts of a few short windows.
#pragma once

#include <span>

namespace heatsink::observe {

// One window: the key had at least `low` and at most `high` accesses in `seconds`.
struct WindowCount {
  double seconds = 0;
  double low = 0;
  double high = 0;
};

struct RateBounds {
  double rate = 0;  // per second
  double low = 0;
  double high = 0;
};

// The mean rate over `watched_seconds`, of which the windows are a sample taken at jittered times.
//
// The estimate is a ratio, r = C / T with C = sum c_i, T = sum t_i (Cochran, Sampling Techniques,
// 1977, chapter 6). Two intervals are made at 99 %. At each end the wider one counts, so that their
// union holds with at least 95 % even where arrivals follow neither model:
//   chance    the accesses within the windows are Poisson: Garwood's exact interval
//             (Biometrika 1936), chi2(0.005, 2 C) / 2T .. chi2(0.995, 2 C + 2) / 2T;
//   change    the rate differs from window to window: Student's, r +- t(0.995, n - 1) s sqrt(n) / T
//             with s^2 = sum (c_i - r t_i)^2 / (n - 1). From three windows on; with fewer, only a
//             steady rate is covered.
// The lower bound is never below C / watched_seconds, because those accesses did happen. Without
// windows the bounds are 0 .. infinity. O(windows), and about a microsecond for each quantile.
RateBounds rate_bounds(std::span<const WindowCount> windows, double watched_seconds);

inline constexpr double kTail = 0.005;  // on each side of an interval of 99 %
inline constexpr std::size_t kWindowsForChange = 3;

}  // namespace heatsink::observe
