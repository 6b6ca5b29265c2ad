// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/counts_window.h"

#include "heatsink/client/metrics.h"

namespace heatsink::client {

void CountsWindow::look(const Counts& totals, TimePoint now) {
  if (clock_.due(now)) {
    const detect::SlotClock::Move move = clock_.move_to(now);
    const detect::Position& at = clock_.position();
    for (std::uint32_t i = 0, cell = at.slot; i < move.turns; ++i, cell = at.before(cell))
      before_[cell] = latest_;
  }
  latest_ = totals;
}

Counts CountsWindow::within() const {
  const detect::Position& at = clock_.position();
  const Counts& oldest = before_[(at.slot + 1) % at.slots];
  Counts grown;
  for (const CountRow& row : count_rows())
    grown.*row.count = latest_.*row.count - oldest.*row.count;
  return grown;
}

}  // namespace heatsink::client
