// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace heatsink::app {
namespace {

constexpr std::array<std::string_view, 4> kSortNames{"rate", "share", "writes", "hits"};

// Comparable between keys of rules that count different things.
double accesses_rate(const KeyView& key) {
  return key.dimension == "requests" ? key.rate : key.reads_rate + key.writes_rate;
}

double sort_value(const KeyView& key, SortBy sort) {
  switch (sort) {
    case SortBy::kRate:
      return accesses_rate(key);
    case SortBy::kShare:
      return key.share;
    case SortBy::kWrites:
      return key.writes_rate;
    case SortBy::kHits:
      return key.hits_rate;
  }
  return 0;
}

double known(double value) { return std::isnan(value) ? 0 : value; }

void push_bounded(std::vector<double>& values, double value) {
  if (values.size() == TopModel::kHistoryMax) values.erase(values.begin());
  values.push_back(value);
}

}  // namespace

std::string_view to_string(SortBy sort) { return kSortNames[static_cast<std::size_t>(sort)]; }

SortBy after(SortBy sort) {
  return static_cast<SortBy>((static_cast<std::size_t>(sort) + 1) % kSortNames.size());
}

SortBy before(SortBy sort) {
  return static_cast<SortBy>((static_cast<std::size_t>(sort) + kSortNames.size() - 1) %
                             kSortNames.size());
}

void TopModel::answered(HotkeysView answer) {
  problem.clear();
  down_since.reset();
  const double requests_rate = known(answer.node.requests_rate);
  const double hits_rate = known(answer.node.hits_rate);
  push_bounded(requests, requests_rate);
  push_bounded(hits, hits_rate);
  requests_sum += requests_rate;
  hits_sum += hits_rate;
  ++answers;
  for (const KeyView& key : answer.keys) {
    if (key.verdict != "hot" && key.verdict != "write-hot") continue;
    if (hot_keys.size() >= kRememberedMax && !hot_keys.contains(key.name)) continue;
    HotKey& seen = hot_keys[key.name];
    seen.rate_max = std::max(seen.rate_max, known(accesses_rate(key)));
    seen.write_hot = key.verdict == "write-hot";
  }
  view = std::move(answer);
}

void TopModel::failed(std::string why, TimePoint now) {
  problem = std::move(why);
  if (!down_since) down_since = now;
}

std::vector<const KeyView*> TopModel::sorted_keys() const {
  std::vector<const KeyView*> out;
  if (!view) return out;
  for (const KeyView& key : view->keys) out.push_back(&key);
  std::ranges::stable_sort(out, std::ranges::greater{},
                           [this](const KeyView* key) { return known(sort_value(*key, sort)); });
  return out;
}

}  // namespace heatsink::app
