// SPDX-License-Identifier: Apache-2.0
// The keeper's part of limits: gives the hottest keys automatic limits, and describes limits to
// people.
#include <string>
#include <vector>

#include "heatsink/copies/copy_keeper.h"

namespace heatsink::copies {

// An automatic limit caps the load on the server. Keys with a limit of their own rule are skipped.
void CopyKeeper::limit_the_hottest(TimePoint now) {
  std::vector<policy::AutomaticLimits::Seen> seen;
  for (const detect::Verdict& verdict : selector_.verdicts()) {
    const detect::KeyCount& count = verdict.count;
    if (!count.key_truncated && shared_.limits()->of_rule(count.key, true) == nullptr)
      seen.push_back({count.hash, count.key, count.db, accesses_rate(verdict)});
  }
  for (const policy::AutomaticLimits::Change& change : automatic_.update(seen, now)) {
    if (change.begins) {
      shared_.limits()->begin_automatic(change.hash, now);
    } else {
      shared_.limits()->end_automatic(change.hash);
    }
    events_.add_limit(change.begins, shared_.shown.show(change.key), change.db,
                      policy::automatic_reason(change, shared_.options().automatic_qps), now);
  }
}

std::string CopyKeeper::limit_on(const detect::KeyCount& count) const {
  const policy::Limits& limits = *shared_.limits();
  if (const policy::RuleLimit* limit = limits.of_rule(count.key, !count.key_truncated))
    return policy::limit_text(limit->policy());
  if (!limits.is_automatic(count.hash)) return "";
  return policy::limit_text(limits.automatic()->policy()) + " (limits.automatic-qps)";
}

}  // namespace heatsink::copies
