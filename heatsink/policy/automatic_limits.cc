// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/automatic_limits.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heatsink/base/units.h"

namespace heatsink::policy {
namespace {

std::string rounded(double rate) { return std::to_string(std::llround(rate)); }

}  // namespace

bool AutomaticLimits::is_limited(KeyHash hash) const {
  return std::any_of(limited_.begin(), limited_.end(),
                     [&](const Limited& each) { return each.hash == hash; });
}

std::vector<AutomaticLimits::Change> AutomaticLimits::update(std::span<const Seen> seen,
                                                             TimePoint now) {
  std::vector<Change> changes;
  const auto rate_of = [&](const Limited& limited) {
    const auto found = std::find_if(seen.begin(), seen.end(),
                                    [&](const Seen& each) { return each.hash == limited.hash; });
    return found == seen.end() ? 0.0 : found->rate;
  };
  for (Limited& limited : limited_) {
    const double rate = rate_of(limited);
    if (rate >= qps_ * kEndRatio) limited.busy_at = now;
    if (now - limited.busy_at >= kCalm)
      changes.push_back({false, limited.hash, limited.key, limited.db, rate});
  }
  // Ended limits leave before new ones begin, so that their places are free for busier keys.
  std::erase_if(limited_, [&](const Limited& each) { return now - each.busy_at >= kCalm; });
  for (const Seen& each : seen) {
    if (each.rate < qps_ || limited_.size() >= keys_max_ || is_limited(each.hash)) continue;
    limited_.push_back({each.hash, std::string(each.key), each.db, now});
    changes.push_back({true, each.hash, std::string(each.key), each.db, each.rate});
  }
  return changes;
}

std::vector<AutomaticLimits::Change> AutomaticLimits::end_all() {
  std::vector<Change> changes;
  for (Limited& limited : std::exchange(limited_, {}))
    changes.push_back({false, limited.hash, std::move(limited.key), limited.db, 0});
  return changes;
}

std::string automatic_reason(const AutomaticLimits::Change& change, double qps) {
  if (change.begins)
    return rounded(change.rate) + "/s >= limits.automatic-qps " + rounded(qps) +
           ": the server gets at most this rate of it";
  return rounded(change.rate) + "/s, and below " + format_share(Share{AutomaticLimits::kEndRatio}) +
         " of limits.automatic-qps " + rounded(qps) + " for " +
         format_duration(AutomaticLimits::kCalm);
}

}  // namespace heatsink::policy
