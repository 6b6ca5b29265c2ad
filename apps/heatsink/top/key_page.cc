// SPDX-License-Identifier: Apache-2.0
// Draws the page of one key.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/heatsink/top/key_facts.h"
#include "apps/heatsink/top/pages.h"
#include "apps/heatsink/top/paint.h"
#include "heatsink/tui/number.h"
#include "heatsink/tui/sparkline.h"

namespace heatsink::app {
namespace {

// Columns of the scale after the curve.
constexpr int kScaleColumns = 16;

void add_history(Sheet& sheet, const TopModel& model, const KeyView& key) {
  const std::vector<double> rates = model.histories.of(id_of(key));
  const double top = rates.empty() ? 0 : *std::ranges::max_element(rates);
  const int width = std::clamp(sheet.width() - kLabelColumns - kScaleColumns, 1,
                               static_cast<int>(std::max<std::size_t>(rates.size(), 1)));
  // Bars contain no spaces, so the curve is not wrapped.
  sheet.add("history",
            fmt::format("{} max {}/s", tui::sparkline(rates, top, width), amount_text(key, top)),
            {.color = tui::Color::kBlue});
  sheet.add("",
            fmt::format("{} answers, one every {}", rates.size(), format_duration(model.interval)),
            kDim);
}

tui::Style style_of_label(std::string_view label, const KeyView& key) {
  if (label == "state") return style_of(key);
  return label == "helps" || label == "done" ? kGood : label == "no use" ? kDim : kPlain;
}

}  // namespace

tui::Screen draw_key_page(const TopModel& model, int width) {
  Sheet sheet(width);
  if (!model.open_key || !model.view) return sheet.screen();
  const KeyView& key = model.open_key->key;
  sheet.add("key", fmt::format("{} (db {})", shown_name(key), key.db), kBold);
  if (!model.open_key->listed)
    sheet.add("", "no longer listed: below are its last known figures", kBad);
  for (const Fact& fact : key_facts(key, *model.view)) {
    sheet.add(fact.label, fact.text, style_of_label(fact.label, key));
    if (fact.label == "rate") add_history(sheet, model, key);
  }
  sheet.skip();
  for (const Fact& fact : advice_facts(key, *model.view)) {
    sheet.add(fact.label, fact.text, style_of_label(fact.label, key));
    for (const std::string& line : fact.lines) sheet.add_line("  " + line);
  }
  return sheet.screen();
}

}  // namespace heatsink::app
