// SPDX-License-Identifier: Apache-2.0
// Says whether the counts of an instance have changed enough since its report to matter to a fleet.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "heatsink/detect/measure.h"
#include "heatsink/detect/summary.h"
#include "heatsink/fleet/message.h"

namespace heatsink::fleet {

// One instance's part of the smallest count that can change a verdict: `least` accesses (or bytes)
// in the window, or a part of what an average instance counts.
using Matters = std::function<detect::CountLevel(const detect::Measure&, std::uint64_t instances)>;

// One thread. Remembers the counts of the last report and of the list; memory for kReportKeys and
// twice kListKeys keys of each window. A change matters if it is beyond both the slack and chance:
// * slack: the part above, or a quarter of the key's mean count in the list if that is more. The
//   sum of a fleet then differs from its members' counts by less than that for each member.
// * chance: three standard deviations of the difference of two counts of random accesses.
class Changes {
 public:
  explicit Changes(Matters matters);

  void reported(const Message& report);
  void listed(const Message& list);  // the latest one
  // A busy key gained, or a key of the list gained or lost. Does not allocate. Time: the windows'
  // keys.
  bool matter(std::span<const detect::Summary> windows) const;

 private:
  using Counts = std::vector<std::pair<std::uint64_t, std::uint64_t>>;  // by hash, rising: count
  struct Reported {
    detect::Measure measure;
    Counts counts;  // low
  };
  struct Listed {
    detect::Measure measure;
    Counts counts;           // low of the mean instance, a quarter of it
    std::uint64_t mean = 0;  // what the mean instance counts in all
  };
  bool matter(const detect::Summary& window) const;

  const Matters matters_;
  std::vector<Reported> reported_;
  std::vector<Listed> listed_;
  std::uint64_t instances_ = 1;  // of the list
};

}  // namespace heatsink::fleet
