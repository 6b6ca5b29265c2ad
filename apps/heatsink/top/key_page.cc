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

namespace heatsink::app {
namespace {

// Columns of the scale after the curve.
constexpr int kScaleColumns = 16;

void add_history(Sheet& sheet, const TopModel& model, const KeyView& key) {
  const KeyHistories& histories = model.past ? model.past->histories : model.histories;
  const std::vector<double> rates = histories.of(id_of(key));
  const double top = rates.empty() ? 0 : *std::ranges::max_element(rates);
  const int width = std::clamp(sheet.width() - kLabelColumns - kScaleColumns, 1,
                               static_cast<int>(std::max<std::size_t>(rates.size(), 1)));
  // Bars contain no spaces, so the curve is not wrapped.
  sheet.add("history",
            fmt::format("{} max {}/s", tui::sparkline(rates, top, width), amount_text(key, top)),
            {.color = tui::Color::kBlue});
  sheet.add(
      "",
      model.past
          ? fmt::format("{} steps of {}", rates.size(), format_duration(model.past->step))
          : fmt::format("{} answers, one every {}", rates.size(), format_duration(model.interval)),
      kDim);
}

tui::Style style_of_label(std::string_view label, const KeyView& key) {
  if (label == "state") return style_of(key);
  return label == "helps" || label == "done" ? kGood : label == "no use" ? kDim : kPlain;
}

// What the history has of a key.
void add_past(Sheet& sheet, const TopModel& model, const KeyView& key) {
  if (!model.open_key->listed)
    return sheet.add("rate", fmt::format("at most {}: it was not among the busiest then",
                                         tui::rate_text(model.view->node.absent_max)));
  sheet.add("rate",
            fmt::format("at least {}; {} of all accesses; over {}", tui::rate_text(key.rate),
                        tui::percent_text(key.share), tui::age_text(key.window)));
  add_history(sheet, model, key);
  sheet.add("reads", fmt::format("{}: {} hits ({})", tui::rate_text(key.reads_rate),
                                 tui::rate_text(key.hits_rate), tui::percent_text(key.hit_ratio)));
  sheet.add("writes", tui::rate_text(key.writes_rate));
}

}  // namespace

tui::Screen draw_key_page(const TopModel& model, int width) {
  Sheet sheet(width);
  if (!model.open_key || !model.view) return sheet.screen();
  const KeyView& key = model.open_key->key;
  sheet.add("key", fmt::format("{} (db {})", shown_name(key), key.db), kBold);
  if (model.past) {
    add_past(sheet, model, key);
    return sheet.screen();
  }
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
