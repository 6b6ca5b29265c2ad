// SPDX-License-Identifier: Apache-2.0
// Says whether the counts of an instance have changed enough since its report to matter to a fleet.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <unordered_map>
#include <vector>

#include "heatsink/detect/measure.h"
#include "heatsink/detect/summary.h"
#include "heatsink/fleet/message.h"

namespace heatsink::fleet {

// One instance's part of the smallest count that can change a verdict: `least` accesses (or bytes)
// in the window, or a part of what an average instance counts.
using Matters = std::function<detect::CountLevel(const detect::Measure&, std::uint64_t instances)>;

// One thread. Remembers the counts of the last report; memory for kReportKeys + kListKeys keys of
// each window. A change matters if it is beyond both the slack and chance:
// * slack: the part above, or a quarter of the key's mean count in the list if that is more. The
//   sum of a fleet then differs from its members' counts by less than that for each member.
// * chance: three standard deviations of the difference of two counts of random accesses.
class Changes {
 public:
  explicit Changes(Matters matters);

  void reported(const Message& report);
  // A busy key gained, or a key of `list` (null: no list) gained or lost. Time: the windows' keys.
  bool matter(std::span<const detect::Summary> windows, const Message* list) const;

 private:
  struct Reported {
    detect::Measure measure;
    std::unordered_map<std::uint64_t, std::uint64_t> counts;  // by hash: low
  };
  bool matter(const detect::Summary& window, const detect::Summary* listed,
              std::uint64_t instances) const;

  const Matters matters_;
  std::vector<Reported> reported_;
};

}  // namespace heatsink::fleet
