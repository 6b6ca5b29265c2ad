// SPDX-License-Identifier: Apache-2.0
// Slows the keeper down while there is no client and no copy: it then only checks the server.
#include <malloc.h>

#include <algorithm>
#include <chrono>

#include "heatsink/copies/copy_keeper.h"

namespace heatsink::copies {
namespace {

// The keeper stays awake for this long after its last work.
constexpr Nanos kAwakeFor = std::chrono::seconds(3);

}  // namespace

bool CopyKeeper::has_work() const {
  // While a window still contains accesses, the workers hold memory for them.
  const bool seen = std::any_of(merged_.begin(), merged_.end(),
                                [](const detect::Summary& merged) { return merged.requests > 0; });
  return seen || shared_.clients.load() > 0 || shared_.table.copies() > 0 || warmer_.size() > 0 ||
         !warm_waiters_.empty() || search_timer_ != 0;
}

// A client that connects meanwhile is either seen by the second has_work(), or it sees rests_ and
// wakes the keeper.
void CopyKeeper::rest_if_idle() {
  const TimePoint now = loop_.clock();
  if (has_work()) woken_at_ = now;
  if (timers_.slow() || now - woken_at_ < kAwakeFor) return;
  // Before the second look: a client that connects in between sees it and wakes the keeper.
  rests_.store(true);
  if (has_work()) return wake();
  timers_.slow_down();
  // Returns the memory of former clients; no client is connected that it could delay.
  malloc_trim(0);
}

void CopyKeeper::wake() {
  rests_.store(false);
  woken_at_ = loop_.clock();
  timers_.wake();
}

void CopyKeeper::client_came() {
  if (rests_.load()) loop_.post([this] { wake(); });
}

}  // namespace heatsink::copies
