// SPDX-License-Identifier: Apache-2.0
// Estimates what more or fewer copies would save.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/admit/choice.h"
#include "heatsink/admit/costs.h"
#include "heatsink/admit/miniature.h"
#include "heatsink/admit/tally.h"
#include "heatsink/base/clock.h"

namespace heatsink::admit {

// Plays one choice with several numbers of copies, on the same sample of the keys as the Chooser.
// One thread. Memory: 0.4 to 0.8 MB for 512 copies per miniature.
class CopyCurve {
 public:
  struct Point {
    std::size_t copies;
    double saved;  // as Chooser::Estimate::saved
  };

  // `copies`: that there may be; `miniature_copies`: in the miniature that stands for them, less
  // than 65535 / (4 * (Choice::kHistoryMax + 1)), or 5461 for choices with a history of 2.
  CopyCurve(std::size_t copies, std::size_t miniature_copies);

  // Begins anew if it is another choice. REQUIRES choice.reads != kNever.
  void follow(const Choice& choice);
  // From now on; see Miniature.
  void set_costs(const Costs& costs, Nanos life);

  void read(std::uint32_t key, TimePoint now, Nanos life);
  void write(std::uint32_t key);

  // By rising number of copies. Empty before enough reads were seen.
  std::vector<Point> points(const Costs& costs) const;

 private:
  struct Size {
    std::size_t copies;
    Miniature miniature;
    Tally tally;
  };

  void add_counts();

  const std::size_t copies_;
  const std::size_t miniature_copies_;
  std::vector<Size> sizes_;
  std::uint64_t reads_ = 0;  // since add_counts()
  Costs costs_;
  Nanos life_{1};
};

}  // namespace heatsink::admit
