// SPDX-License-Identifier: Apache-2.0
// Draws the page of sources: the cost, blind spots and confidence of each.
#include <fmt/format.h>

#include <cmath>
#include <string>

#include "apps/heatsink/top/pages.h"
#include "apps/heatsink/top/paint.h"
#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

constexpr std::string_view kOfAProxy =
    "the proxy or the library itself: it counts every access that passes through it, "
    "within the bounds of ERR, and sends the server no command for this";

std::string title_of(const SourceView& source) {
  std::string out = source.name + ", " + source.state;
  if (!std::isnan(source.progress)) out += fmt::format(", {}", tui::percent_text(source.progress));
  return out;
}

}  // namespace

tui::Screen draw_sources_page(const HotkeysView& view, int width) {
  Sheet sheet(width);
  if (view.sources.empty()) sheet.add("source", kOfAProxy);
  for (const SourceView& source : view.sources) {
    sheet.add("source", title_of(source), kBold);
    sheet.add("costs", source.cost);
    sheet.add("blind to", source.blind_spots);
    sheet.add("bounds", source.confidence);
    if (!source.note.empty()) sheet.add("now", source.note);
    sheet.skip();
  }
  for (const std::string& difference : view.cross_check) sheet.add("differ", difference, kBold);
  return sheet.screen();
}

}  // namespace heatsink::app
