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
  (past ? latest : view) = std::move(answer);
}

void TopModel::show_past(PastMoment moment) {
  if (!past) latest = std::move(view);
  view = moment.view;
  view->is_past = true;
  past = std::move(moment);
  if (open_key) look_again(*open_key, view->keys);
}

void TopModel::show_gap(WallTime at) {
  PastMoment moment{
      .at = at, .step = std::chrono::seconds(1), .view = {}, .requests = {}, .hits = {}};
  const std::optional<HotkeysView>& now = past ? latest : view;
  if (now) moment.view.node.upstream = now->node.upstream;
  NodeView& node = moment.view.node;
  for (double* const rate : {&node.requests_rate, &node.reads_rate, &node.writes_rate,
                             &node.hit_ratio, &node.misses_rate, &node.offload})
    *rate = kUnknown;
  moment.view.headline = "nothing was counted then";
  show_past(std::move(moment));
}

void TopModel::show_now() {
  if (!past) return;
  past.reset();
  view = std::exchange(latest, std::nullopt);
  if (open_key && view) look_again(*open_key, view->keys);
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
  if (open_key && !past) look_again(*open_key, answer.keys);
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
  const KeyHistories& of = past ? past->histories : histories;
  return !row.is_template ? of.of(id_of(*row.key)) : of.of_template(id_of(*row.key));
}

}  // namespace heatsink::app
