// SPDX-License-Identifier: Apache-2.0
// Draws line plots as SVG text, for a page that defines the colours (classes s0, s1 ...).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heatsink::app {

// Escapes `text` for HTML and XML, including attributes. REQUIRES output of printable(): valid
// UTF-8 without controls.
std::string escaped(std::string_view text);

struct PlotPoint {
  double x = 0;
  double y = 0;
};

struct PlotLine {
  std::string name;
  std::vector<PlotPoint> points;  // x ascending
};

struct Plot {
  std::string title;
  std::string x_label;
  std::string y_label;
  bool x_logarithmic = false;   // REQUIRES x >= 1
  bool y_is_ratio = false;      // shown as percent
  std::vector<PlotLine> lines;  // at most kPlotLinesMax are drawn
};
inline constexpr std::size_t kPlotLinesMax = 10;

// One <svg> element, as wide as its container. Leaves out lines without points.
std::string svg(const Plot& plot);

}  // namespace heatsink::app
