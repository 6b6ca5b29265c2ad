// SPDX-License-Identifier: Apache-2.0
// Tells the workers' subscribers of the channel __heatsink__:hot about verdicts.
#include "heatsink/copies/copy_keeper.h"

namespace heatsink::copies {
namespace {

report::BothClocks both_clocks(TimePoint now) { return {now, std::chrono::system_clock::now()}; }

}  // namespace

void CopyKeeper::ask_verdicts(std::size_t worker) {
  loop_.post([this, worker] {
    const TimePoint now = loop_.clock();
    verdicts_.give_list(
        worker, [this, now] { return report_.busy_verdicts(now); }, both_clocks(now));
  });
}

void CopyKeeper::end_verdicts(std::size_t worker) {
  loop_.post([this, worker] { verdicts_.end(worker); });
}

void CopyKeeper::tell_clients(std::span<const detect::Change> changes) {
  verdicts_.note(changes, both_clocks(loop_.clock()));
}

}  // namespace heatsink::copies
