// SPDX-License-Identifier: Apache-2.0
// Says which keys a rule would have matched, from the history of the busiest keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/heat/heat.h"

namespace heatsink::admin {

// What the rule would have had: at least `requests_low` requests to at least `keys` keys. The
// history names the busiest keys of each step only, so the rule may have had more: at most
// `requests_high`. For a single name that takes the databases of the named keys for all there are.
struct RuleDryRun {
  static constexpr std::size_t kListedMax = 50;

  struct Key {
    heat::KeySum sum;
    std::string rule;      // the match of the rule that it has now; "": none
    bool applies = false;  // false: that rule is more specific, and stays the key's
  };
  std::string match;
  std::size_t keys = 0;  // that match, and that the rule would apply to
  double requests_low = 0, requests_high = 0;
  double requests_all = 0;  // of all keys
  // Keys that match, and keep a more specific rule; and their requests, at least.
  std::size_t kept_keys = 0;
  double kept_requests = 0;
  // Keys whose stored name is cut off, so that it does not say whether they match.
  std::size_t undecided = 0;
  bool is_whole = true;       // false: it took too long, so later keys were left out
  std::vector<Key> listed{};  // the busiest of the keys that match
};

// `matches`: those of the rules that hold now; one that equals `match` is the one that the rule
// would replace. An error names what is wrong with `match`. O(keys x bytes of the name x bytes of
// the patterns), at most kStepsMax: about 100 ms of one core.
inline constexpr std::size_t kDryRunStepsMax = 100'000'000;
Result<RuleDryRun> dry_run(const heat::Sums& sums, const std::string& match,
                           const std::vector<std::string>& matches,
                           std::size_t steps_max = kDryRunStepsMax);

// The answer of GET /api/rules/dry-run. `from`, `to`: of the columns, by the wall clock.
std::string dry_run_json(const RuleDryRun& run, const heat::Sums& sums, WallTime from, WallTime to);

}  // namespace heatsink::admin
