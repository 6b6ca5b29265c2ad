// SPDX-License-Identifier: Apache-2.0
// Formats numbers for columns, with three digits, and draws a curve of them in one row.
#pragma once

#include <span>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"

namespace heatsink::tui {

// "0", "3.4", "950", "1.2k", "34.5k", "345k", "1.2M", ... at most 5 columns below 10^15; "-" if it
// is not a number >= 0. All functions here are pure and thread-safe.
std::string count_text(double count);
std::string rate_text(double per_second);  // "1.2k/s"

// 0 .. 1 as "34.5 %"; "<0.1 %" for less, but more than 0; "100 %" only for exactly all.
std::string percent_text(double ratio);

// Forms for quantities that may be negative: "-12.5 %", "-1.2k/s".
std::string signed_percent_text(double ratio);
std::string signed_rate_text(double per_second);

// "12s", "3m12s", "2h05m", "4d03h"; "0s" below a second and for negative ages.
std::string age_text(Nanos age);

// "85us", "1.2ms", "345ms", "2.5s": for times below minutes.
std::string latency_text(Nanos latency);

// "512 B", "4.0 KiB", "1.2 MiB": powers of 1024.
std::string size_text(Bytes size);

// A curve in one row of text. The last `width` values, newest at the right, as eight heights from 0
// to `top`; missing values are spaces. Zero is the lowest bar, so that "nothing" differs from "no
// data"; values are clamped. Curves with the same `top` can be compared.
std::string sparkline(std::span<const double> values, double top, int width);

}  // namespace heatsink::tui
