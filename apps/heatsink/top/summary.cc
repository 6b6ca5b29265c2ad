// SPDX-License-Identifier: Apache-2.0
// Writes the summary that top leaves on the normal screen at its end.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "apps/heatsink/top/paint.h"
#include "apps/heatsink/top/screen.h"
#include "heatsink/tui/number.h"
#include "heatsink/tui/text.h"

namespace heatsink::app {
namespace {

constexpr std::size_t kKeysNamed = 5;
constexpr int kColumnsMax = 100;  // longer lines are hard to read
constexpr int kNameColumnsMax = 60;

using Named = std::pair<std::string, TopModel::HotKey>;

std::vector<Named> busiest(const TopModel& model) {
  std::vector<Named> out(model.hot_keys.begin(), model.hot_keys.end());
  std::ranges::stable_sort(out, std::ranges::greater{},
                           [](const Named& key) { return key.second.rate_max; });
  return out;
}

std::string cut(const std::string& name, int columns) {
  const int most = std::min(kNameColumnsMax, columns);
  return tui::fit(name, std::min(tui::display_width(name), most));
}

std::string hot_sentence(const TopModel& model, int columns) {
  const std::vector<Named> keys = busiest(model);
  if (keys.empty()) return "No key was hot.";
  std::string out =
      fmt::format("{} {} hot: ", keys.size(), keys.size() == 1 ? "key was" : "keys were");
  const std::size_t named = std::min(keys.size(), kKeysNamed);
  for (std::size_t i = 0; i < named; ++i) {
    const auto& [name, key] = keys[i];
    out += fmt::format("{}{} ({}{})", i == 0 ? "" : ", ", cut(name, columns),
                       tui::rate_text(key.rate_max), key.write_hot ? ", write-hot" : "");
  }
  if (named < keys.size()) out += fmt::format(" and {} more", keys.size() - named);
  return out + ".";
}

// Means over the answers, which come at regular intervals.
std::string load_sentence(const TopModel& model) {
  const auto answers = static_cast<double>(model.answers);
  if (model.observed)
    return fmt::format("On average it received {}.", tui::rate_text(model.requests_sum / answers));
  const double commands = model.commands_sum;
  const double offload = commands > 0 ? 1 - model.server_commands_sum / commands : 0;
  return fmt::format(
      "On average clients sent {} and the server got {}: {} of the load was taken off it.",
      tui::rate_text(commands / answers), tui::rate_text(model.server_commands_sum / answers),
      tui::signed_percent_text(offload));
}

std::string paragraph(const std::string& text, int columns) {
  std::string out;
  for (const std::string& line : wrapped(text, columns)) out += line + "\n";
  return out;
}

}  // namespace

std::string summary_text(const TopModel& model, Nanos watched, int columns) {
  columns = std::clamp(columns, 1, kColumnsMax);
  const std::string age = tui::age_text(watched);
  if (model.answers == 0) {
    return paragraph(fmt::format("heatsink top: no answer from {} in {}: {}", model.asked(), age,
                                 model.problem.empty() ? "stopped before the first answer"
                                                       : tui::safe_text(model.problem)),
                     columns);
  }
  return paragraph(fmt::format("heatsink top: watched {} for {}. {} {}",
                               tui::safe_text(model.view->node.upstream), age,
                               hot_sentence(model, columns), load_sentence(model)),
                   columns);
}

}  // namespace heatsink::app
