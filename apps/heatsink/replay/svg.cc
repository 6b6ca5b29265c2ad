// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/replay/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

constexpr double kWidth = 720, kHeight = 300;
constexpr double kLeft = 60, kRight = 590, kTop = 14, kBottom = 250;
constexpr double kLegendStep = 18;
constexpr int kTicks = 5;

// 1, 2, 2.5 or 5 times a power of ten, close to `span` / kTicks.
double tick_step(double span) {
  const double rough = span / kTicks;
  const double power = std::pow(10.0, std::floor(std::log10(rough)));
  for (const double step : {1.0, 2.0, 2.5, 5.0})
    if (rough <= step * power) return step * power;
  return 10 * power;
}

class Canvas {
 public:
  explicit Canvas(const Plot& plot) : plot_(plot) {
    bool first = true;
    for (const PlotLine& line : plot.lines) {
      for (const PlotPoint& point : line.points) {
        x_min_ = first ? scaled(point.x) : std::min(x_min_, scaled(point.x));
        x_max_ = first ? scaled(point.x) : std::max(x_max_, scaled(point.x));
        y_max_ = std::max(y_max_, point.y);
        first = false;
      }
    }
    if (!plot.x_logarithmic) x_min_ = std::min(x_min_, 0.0);
    if (x_max_ <= x_min_) x_max_ = x_min_ + 1;
    if (y_max_ <= 0) y_max_ = plot.y_is_ratio ? 0.01 : 1;
    const double step = tick_step(y_max_);
    y_max_ = std::ceil(y_max_ / step * 0.9999) * step;  // the axis ends with a tick
  }

  std::string draw() const {
    std::string out = fmt::format("<svg viewBox=\"0 0 {} {}\" role=\"img\" aria-label=\"{}\">\n",
                                  kWidth, kHeight, escaped(plot_.title));
    out += y_axis() + x_axis() + labels();
    std::size_t number = 0;
    for (const PlotLine& line : plot_.lines) {
      if (line.points.empty() || number == kPlotLinesMax) continue;
      out += curve(line, number) + legend(line.name, number);
      ++number;
    }
    return out + "</svg>\n";
  }

 private:
  double scaled(double x) const { return plot_.x_logarithmic ? std::log10(std::max(x, 1.0)) : x; }
  double at_x(double x) const {
    return kLeft + (scaled(x) - x_min_) / (x_max_ - x_min_) * (kRight - kLeft);
  }
  double at_y(double y) const { return kBottom - y / y_max_ * (kBottom - kTop); }

  static std::string text(double x, double y, std::string_view anchor, std::string_view words) {
    return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\">{}</text>\n", x, y,
                       anchor, escaped(words));
  }

  std::string y_axis() const {
    std::string out;
    const double step = tick_step(y_max_);
    for (int i = 0; i * step <= y_max_ * 1.0001; ++i) {
      const double y = at_y(i * step);
      out += fmt::format("<line class=\"grid\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>\n",
                         kLeft, kRight, y, y);
      out += text(
          kLeft - 6, y + 4, "end",
          plot_.y_is_ratio ? fmt::format("{:g} %", i * step * 100) : tui::count_text(i * step));
    }
    return out;
  }

  std::string x_axis() const {
    std::string out;
    const double step = plot_.x_logarithmic ? 1 : tick_step(x_max_ - x_min_);
    const int last = static_cast<int>(std::floor(x_max_ / step + 1e-6));
    for (int i = static_cast<int>(std::ceil(x_min_ / step)); i <= last; ++i) {
      const double value = plot_.x_logarithmic ? std::pow(10.0, i) : i * step;
      out += text(at_x(value), kBottom + 18, "middle", tui::count_text(value));
    }
    return out;
  }

  std::string labels() const {
    return text((kLeft + kRight) / 2, kBottom + 38, "middle", plot_.x_label) +
           fmt::format(
               "<text transform=\"translate(14 {}) rotate(-90)\" "
               "text-anchor=\"middle\">{}</text>\n",
               (kTop + kBottom) / 2, escaped(plot_.y_label));
  }

  std::string curve(const PlotLine& line, std::size_t number) const {
    std::string points;
    for (const PlotPoint& point : line.points)
      points +=
          fmt::format("{}{:.1f},{:.1f}", points.empty() ? "" : " ", at_x(point.x), at_y(point.y));
    return fmt::format("<polyline class=\"s{}\" points=\"{}\"/>\n", number, points);
  }

  static std::string legend(const std::string& name, std::size_t number) {
    const double y = kTop + 6 + kLegendStep * static_cast<double>(number);
    return fmt::format("<polyline class=\"s{}\" points=\"{},{} {},{}\"/>\n", number, kRight + 10, y,
                       kRight + 30, y) +
           text(kRight + 36, y + 4, "start", name);
  }

  const Plot& plot_;
  double x_min_ = 0, x_max_ = 1, y_max_ = 0;
};

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += c;
    }
  }
  return out;
}

std::string svg(const Plot& plot) { return Canvas(plot).draw(); }

}  // namespace heatsink::app
