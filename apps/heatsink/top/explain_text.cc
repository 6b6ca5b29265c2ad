// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

#include "apps/heatsink/top/explain_key.h"
#include "apps/heatsink/top/key_facts.h"
#include "apps/heatsink/top/paint.h"
#include "apps/heatsink/top/rows.h"
#include "heatsink/base/printable.h"
#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

constexpr std::size_t kAlikeMax = 3;
constexpr std::string_view kMayBePause =
    "that may have been a pause of the traffic, and a longer --for shows more";

// `state`: instead of the verdict of the row; "": the verdict.
std::string about(const KeyView& key, const HotkeysView& view, int columns,
                  const std::string& state = "") {
  Sheet sheet(columns);
  sheet.add("key", fmt::format("{} (db {})", shown_name(key), key.db));
  for (const Fact& fact : key_facts(key, view))
    sheet.add(fact.label, fact.label == "state" && !state.empty() ? state : fact.text);
  sheet.skip();
  for (const Fact& fact : advice_facts(key, view)) {
    sheet.add(fact.label, fact.text);
    for (const std::string& line : fact.lines) sheet.add_line("  " + line);
  }
  return sheet.text();
}

// An observed key that is not proven to be even warm. Everything that was seen of it is printed.
bool is_seen(const KeyView* key, const HotkeysView& view) {
  return !view.sources.empty() && key->rate > 0;
}

std::string state_of_seen(const KeyView& key, const HotkeysView& view) {
  const double most = at_most(key, view.node);
  const double hot = view.node.hot;
  if (std::isnan(hot)) return "cold: not proven to be hot or warm";
  if (view.node.may_be_pause && most < hot)
    return fmt::format("not proven yet: up to {} in {}, and hot begins at {}; {}",
                       tui::rate_text(most), tui::age_text(view.window), tui::rate_text(hot),
                       kMayBePause);
  if (!std::isnan(key.rate_high) && most < hot)
    return fmt::format("not hot: at most {}, and hot begins at {}", tui::rate_text(most),
                       tui::rate_text(hot));
  return fmt::format(
      "not proven yet: between {} and {}, and hot begins at {}; a longer --for shows more",
      tui::rate_text(std::isnan(key.rate_low) ? 0 : key.rate_low), tui::rate_text(most),
      tui::rate_text(hot));
}

std::string what_absence_means(const HotkeysView& view) {
  const std::string listed = fmt::format("not one of the {} hot, write-hot or warm keys at {}",
                                         listed_keys(view), view.node.upstream);
  if (!std::isnan(view.node.absent_max) && !view.sources.empty() && view.node.hot > 0 &&
      view.node.absent_max >= view.node.hot)
    return fmt::format("not proven yet: {}; it may have up to {}, and hot begins at {}", listed,
                       tui::rate_text(view.node.absent_max), tui::rate_text(view.node.hot));
  if (view.node.may_be_pause)
    return fmt::format("not proven yet: {} in {}; {}", listed, tui::age_text(view.window),
                       kMayBePause);
  if (!std::isnan(view.node.absent_max))
    return fmt::format("{}: its rate is at most {}", listed, tui::rate_text(view.node.absent_max));
  // The threshold of an observed server is a part of what was seen: it says nothing of unseen keys.
  if (!view.sources.empty()) return listed + "; its rate is not known";
  if (std::isnan(view.node.warm) || view.node.dimension != "requests")
    return listed + ", so it is below the threshold for warm keys";
  return fmt::format("{}: its proven rate is at most {}, unless a rule gives it other thresholds",
                     listed, tui::rate_text(view.node.warm));
}

bool is_warm(const KeyView* row) { return row->verdict != "cold"; }

// Facts that are known even for a cold key.
void add_value(Sheet& sheet, const KeyView& key, const HotkeysView& view) {
  for (const Fact& fact : key_facts(key, view)) {
    if (fact.label == "value" || fact.label == "why" || fact.label == "kept by")
      sheet.add(fact.label, fact.text);
  }
}

// Lists similar names, for users who mistyped an identifier.
std::string alike(const HotkeysView& view, const Question& question) {
  KeyView asked;
  asked.raw_name = question.raw_name;
  std::string out;
  std::size_t found = 0;
  for (const KeyView& key : view.keys) {
    if (!is_warm(&key) || template_of(key).raw_name != template_of(asked).raw_name) continue;
    if (++found > kAlikeMax) continue;
    out += fmt::format("{}{} (db {}, {}/s)", out.empty() ? "" : ", ", shown_name(key), key.db,
                       amount_text(key, key.rate));
  }
  if (found > kAlikeMax) out += fmt::format(" and {} more", found - kAlikeMax);
  return out;
}

}  // namespace

std::vector<const KeyView*> find_rows(const HotkeysView& view, const Question& question) {
  std::vector<const KeyView*> out;
  for (const KeyView& key : view.keys) {
    if (key.raw_name == question.raw_name && (!question.db || key.db == *question.db))
      out.push_back(&key);
  }
  return out;
}

bool is_listed(const HotkeysView& view, const Question& question) {
  return std::ranges::any_of(find_rows(view, question), is_warm);
}

std::size_t listed_keys(const HotkeysView& view) {
  const auto cold = std::ranges::count(view.keys, "cold", &KeyView::verdict);
  return view.keys.size() - static_cast<std::size_t>(cold);
}

std::string explain_text(const HotkeysView& view, const Question& question, int columns) {
  const std::vector<const KeyView*> rows = find_rows(view, question);
  std::string out;
  if (is_listed(view, question)) {
    for (const KeyView* key : rows) {
      if (!is_warm(key)) continue;
      // More than warm may be true: "warm" alone would deny that.
      const std::string state = key->unproven ? state_of_seen(*key, view) : "";
      out += (out.empty() ? "" : "\n") + about(*key, view, columns, state);
    }
    return out;
  }
  for (const KeyView* key : rows) {
    if (is_seen(key, view))
      out += (out.empty() ? "" : "\n") + about(*key, view, columns, state_of_seen(*key, view));
  }
  if (!out.empty()) return out;
  Sheet sheet(columns);
  sheet.add("key", printable(question.raw_name));
  sheet.add("state", what_absence_means(view));
  for (const KeyView* key : rows) add_value(sheet, *key, view);
  const std::string sisters = alike(view, question);
  if (!sisters.empty()) sheet.add("listed", sisters);
  sheet.add("node", view.headline);
  return sheet.screen().text();
}

}  // namespace heatsink::app
