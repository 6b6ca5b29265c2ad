// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/top_n_policy.h"

#include <algorithm>

namespace heatsink::detect {
namespace {

bool is_due(const std::optional<TimePoint>& last, Nanos interval, TimePoint at) {
  return !last || interval <= Nanos(0) || at - *last >= interval;
}

// A mostly written key loses its copy at once, without waiting for the demotion interval.
bool is_demoted(const KnownKey& key) {
  return key.was_hot() && !key.gets_hot() && key.next.temperature != Temperature::kWriteHot;
}

bool clearly_hotter(const KnownKey& newcomer, const KnownKey& holder) {
  return holder.evidence.heat_high < newcomer.evidence.heat_low * holder.rule->demote_ratio;
}

// Compares upper bounds: an unlisted holder has no others.
bool may_be_hotter(const KnownKey* a, const KnownKey* b) {
  const double x = a->evidence.heat_high;
  const double y = b->evidence.heat_high;
  return x != y ? x > y : a->hash.value < b->hash.value;
}

void refuse(KnownKey& newcomer, Cause why) {
  newcomer.next = classify_unpromoted(*newcomer.rule, newcomer.standing, newcomer.evidence, why);
}

}  // namespace

TopNPolicy::TopNPolicy(const SelectorOptions& options) { reconfigure(options); }

void TopNPolicy::reconfigure(const SelectorOptions& options) {
  hot_max_ = options.top_n == 0 ? options.keys_max
                                : std::min<std::size_t>(options.top_n, options.keys_max);
  promotion_interval_ = options.promotion_interval;
  demotion_interval_ = options.demotion_interval;
}

void TopNPolicy::hold_demotions(std::vector<KnownKey>& keys) const {
  for (KnownKey& key : keys) {
    if (is_demoted(key)) key.next = {Temperature::kHot, key.standing.cause};
  }
}

void TopNPolicy::apply(std::vector<KnownKey>& keys, TimePoint at) {
  const bool demotions_due = is_due(demoted_at_, demotion_interval_, at);
  if (!demotions_due) hold_demotions(keys);
  Keys holders, newcomers;
  for (KnownKey& key : keys) {
    if (key.gets_hot()) (key.was_hot() ? holders : newcomers).push_back(&key);
  }
  if (holders.size() > hot_max_) end_excess(holders);
  if (is_due(promoted_at_, promotion_interval_, at)) {
    promote(newcomers, holders, at, demotions_due);
  } else {
    for (KnownKey* newcomer : newcomers) refuse(*newcomer, Cause::kWaiting);
  }
  if (std::any_of(newcomers.begin(), newcomers.end(),
                  [](const KnownKey* key) { return key->gets_hot(); })) {
    promoted_at_ = at;
  }
  if (std::any_of(keys.begin(), keys.end(), is_demoted)) demoted_at_ = at;
}

// The limit has become lower. It counts more than a key's minimum residence.
void TopNPolicy::end_excess(Keys& holders) const {
  std::sort(holders.begin(), holders.end(), may_be_hotter);
  for (std::size_t i = hot_max_; i < holders.size(); ++i) {
    const bool is_listed = holders[i]->evidence.is_listed;
    holders[i]->next = {is_listed ? Temperature::kWarm : Temperature::kCold, Cause::kTopNFull};
  }
  holders.resize(hot_max_);
}

// Tries the hottest newcomer first, against the least hot holder.
void TopNPolicy::promote(Keys& newcomers, Keys& holders, TimePoint at, bool may_displace) const {
  if (newcomers.empty()) return;
  std::size_t taken = holders.size();
  std::erase_if(holders, [&](const KnownKey* holder) {
    return !may_displace || at - holder->standing.since < holder->rule->minimum_residence;
  });
  std::sort(holders.begin(), holders.end(), may_be_hotter);
  std::sort(newcomers.begin(), newcomers.end(), hotter);
  for (KnownKey* newcomer : newcomers) {
    if (taken < hot_max_) {
      ++taken;
    } else if (!holders.empty() && clearly_hotter(*newcomer, *holders.back())) {
      const bool is_listed = holders.back()->evidence.is_listed;
      holders.back()->next = {is_listed ? Temperature::kWarm : Temperature::kCold,
                              Cause::kDisplaced};
      holders.pop_back();
    } else {
      refuse(*newcomer, Cause::kTopNFull);
    }
  }
}

}  // namespace heatsink::detect
