// SPDX-License-Identifier: Apache-2.0
// Line plots as SVG text, to stand in a page that gives the colours (classes s0, s1 ...).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heatsink::app {

// `text` as it may stand in HTML and XML, also in attributes: of bytes that went through
// printable(), so valid UTF-8 without controls.
std::string escaped(std::string_view text);

struct PlotPoint {
  double x = 0;
  double y = 0;
};

struct PlotLine {
  std::string name;
  std::vector<PlotPoint> points;  // x rising
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool x_logarithmic = false;   // then every x >= 1
  bool y_is_ratio = false;      // shown in percent
  std::vector<PlotLine> lines;  // at most kPlotLinesMax are drawn
};
inline constexpr std::size_t kPlotLinesMax = 10;

// One <svg> element, wide as its place. Lines without points are left out.
std::string svg(const Plot& plot);

}  // namespace heatsink::app
