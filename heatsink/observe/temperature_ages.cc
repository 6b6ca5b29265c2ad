// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/temperature_ages.h"

#include <utility>

namespace heatsink::observe {

void TemperatureAges::tell(report::Report& report, TimePoint now) {
  std::map<Key, Seen> still;
  for (report::KeyReport& row : report.keys) {
    detect::Verdict& verdict = row.verdict;
    const Key key(verdict.count.db, verdict.count.key);
    const auto before = seen_.find(key);
    const bool same = before != seen_.end() && before->second.temperature == verdict.temperature;
    verdict.since = same ? before->second.since : now;
    still.try_emplace(key, Seen{verdict.temperature, verdict.since});
  }
  seen_ = std::move(still);
}

}  // namespace heatsink::observe
