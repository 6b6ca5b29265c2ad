// SPDX-License-Identifier: Apache-2.0
// Draws a curve in one row of text.
#pragma once

#include <span>
#include <string>

namespace heatsink::tui {

// The last `width` values, newest at the right, as eight heights from 0 to `top`; missing values
// are spaces. Zero is the lowest bar, so that "nothing" differs from "no data"; values are clamped.
// Curves with the same `top` can be compared.
std::string sparkline(std::span<const double> values, double top, int width);

}  // namespace heatsink::tui
