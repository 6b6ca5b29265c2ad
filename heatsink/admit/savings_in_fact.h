// SPDX-License-Identifier: Apache-2.0
// Says what copies have saved in fact, and for how long to doubt estimates that said more.
#pragma once

#include "heatsink/admit/costs.h"
#include "heatsink/admit/miniature.h"
#include "heatsink/admit/tally.h"
#include "heatsink/base/clock.h"

namespace heatsink::admit {

// A miniature plays a sample of the keys, so its estimate may be wrong: clients pause, keys are
// written in bunches, fills come late. What copies did in fact needs no estimate. A choice that
// loses is given up, and the same estimate does not bring it back at once: each trial costs fills.
//
// One thread. No clock: note() stands for about a second.
class SavingsInFact {
 public:
  // `life`: of copies. A fill is paid at once and its hits come later, so copies lose at first.
  explicit SavingsInFact(Nanos life);

  // What all copies have done since the last call.
  void note(const Miniature::Counts& counts, const Costs& costs);
  // The share of the reads, over about five calls. 0: it is not known yet.
  double saved(const Costs& costs) const;
  // Copies have saved next to nothing for as long as they need to pay. A call without fills is
  // no loss: there is no traffic, or no copy can be made, as while the tracker is away.
  bool loses() const { return losing_for_ >= losing_max_; }

  // Copies begin: what was counted before is of no use.
  void begin();
  // They are given up, although an estimate said that they save so much.
  void give_up(double estimate);
  // An estimate has to be higher to be believed: twice the one that was wrong. Each call of note()
  // takes some of it away, half within two minutes.
  double doubt() const { return doubt_; }

 private:
  int losing_max_;
  int losing_for_ = 0;  // calls of note()
  double doubt_ = 0;
  Tally tally_;
};

}  // namespace heatsink::admit
