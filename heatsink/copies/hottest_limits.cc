// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/hottest_limits.h"

#include <cmath>
#include <vector>

namespace heatsink::copies {

void HottestLimits::update(const HotKeys& hot_keys, TimePoint now) {
  policy::Limits* const limits = shared_.limits();
  if (limits == nullptr || limits->automatic() == nullptr) return;
  std::vector<policy::AutomaticLimits::Seen> seen;
  for (const detect::Verdict& verdict : hot_keys.verdicts()) {
    const detect::KeyCount& count = verdict.count;
    if (!count.key_truncated && limits->of_rule(count.key, true) == nullptr)
      seen.push_back({count.hash, count.key, count.db, hot_keys.accesses_rate(verdict)});
  }
  for (const policy::AutomaticLimits::Change& change : automatic_.update(seen, now)) {
    if (change.begins) {
      limits->begin_automatic(change.hash, now);
    } else {
      limits->end_automatic(change.hash);
    }
    events_.add_limit(change.begins, shared_.shown.show(change.key), change.db,
                      policy::automatic_reason(change, shared_.options().automatic_qps), now);
  }
}

void HottestLimits::follow_options(const policy::ProxyOptions& before, TimePoint now) {
  const double qps = shared_.options().automatic_qps;
  automatic_.set_qps(qps);
  if (qps > 0) return;
  for (const policy::AutomaticLimits::Change& change : automatic_.end_all()) {
    events_.add_limit(false, shared_.shown.show(change.key), change.db,
                      "limits.automatic-qps is off (it was " +
                          std::to_string(std::llround(before.automatic_qps)) + ")",
                      now);
  }
}

std::string HottestLimits::limit_on(const detect::KeyCount& count) const {
  const policy::Limits* const limits = shared_.limits();
  if (limits == nullptr) return "";
  if (const policy::RuleLimit* limit = limits->of_rule(count.key, !count.key_truncated))
    return policy::limit_text(limit->policy());
  if (!limits->is_automatic(count.hash)) return "";
  return policy::limit_text(limits->automatic()->policy()) + " (limits.automatic-qps)";
}

}  // namespace heatsink::copies
