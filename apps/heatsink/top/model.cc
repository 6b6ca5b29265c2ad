// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/model.h"

#include <algorithm>
#include <utility>

namespace heatsink::app {
namespace {

void push_bounded(std::vector<double>& values, double value) {
  if (values.size() == TopModel::kHistoryMax) values.erase(values.begin());
  values.push_back(value);
}

void look_again(OpenKey& open, const std::vector<KeyView>& keys) {
  const auto found = std::ranges::find(keys, id_of(open.key), id_of);
  open.listed = found != keys.end();
  if (open.listed) open.key = *found;
}

}  // namespace

void TopModel::answered(HotkeysView answer) {
  problem.clear();
  down_since.reset();
  if (!answer.only_begins()) remember(answer);
  view = std::move(answer);
}

void TopModel::remember(const HotkeysView& answer) {
  const double requests_rate = known(answer.node.requests_rate);
  const double hits_rate = known(answer.node.hits_rate);
  push_bounded(requests, requests_rate);
  push_bounded(hits, hits_rate);
  requests_sum += requests_rate;
  commands_sum += known(answer.node.commands_rate);
  server_commands_sum += known(answer.node.server_commands_rate);
  ++answers;
  for (const KeyView& key : answer.keys) {
    if (key.verdict != "hot" && key.verdict != "write-hot") continue;
    if (hot_keys.size() >= kRememberedMax && !hot_keys.contains(key.name)) continue;
    HotKey& seen = hot_keys[key.name];
    seen.rate_max = std::max(seen.rate_max, known(accesses_rate(key)));
    seen.write_hot = key.verdict == "write-hot";
  }
  histories.add(answer.keys);
  if (open_key) look_again(*open_key, answer.keys);
}

void TopModel::failed(std::string why, TimePoint now) {
  problem = std::move(why);
  if (!down_since) down_since = now;
}

TopRows TopModel::rows() const {
  if (!view) return {};
  return rows_of(*view, choices.rows);
}

std::size_t TopModel::cursor_in(const TopRows& rows) const {
  if (choices.selected) {
    const auto found = std::ranges::find(rows.rows, *choices.selected,
                                         [](const TopRow& row) { return id_of(*row.key); });
    if (found != rows.rows.end()) return static_cast<std::size_t>(found - rows.rows.begin());
  }
  return rows.rows.empty() ? 0 : std::min(choices.cursor, rows.rows.size() - 1);
}

std::vector<double> TopModel::history_of(const TopRow& row) const {
  if (row.is_counted) return {};  // only the rates of listed keys are remembered
  return !row.is_template ? histories.of(id_of(*row.key)) : histories.of_template(id_of(*row.key));
}

}  // namespace heatsink::app
