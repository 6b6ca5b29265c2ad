// SPDX-License-Identifier: Apache-2.0
// When the keeper slows down: with no client and no copy it only looks whether the server is there.
#include <malloc.h>

#include <algorithm>
#include <chrono>

#include "heatsink/copies/copy_keeper.h"

namespace heatsink::copies {
namespace {

// It stays awake for so long after it had something to do.
constexpr Nanos kAwakeFor = std::chrono::seconds(3);

}  // namespace

bool CopyKeeper::has_work() const {
  // While a window still has accesses in it, workers still hold what they have needed for them.
  const bool seen = std::any_of(merged_.begin(), merged_.end(),
                                [](const detect::Summary& merged) { return merged.requests > 0; });
  return seen || shared_.clients.load() > 0 || shared_.table.copies() > 0 || warmer_.size() > 0 ||
         !warm_waiters_.empty() || search_timer_ != 0;
}

// A client that comes at this moment either is seen here, or sees that the keeper rests.
void CopyKeeper::rest_if_idle() {
  const TimePoint now = loop_.clock();
  if (has_work()) woken_at_ = now;
  if (timers_.slow() || now - woken_at_ < kAwakeFor) return;
  rests_.store(true);
  if (has_work()) return wake();
  timers_.slow_down();
  malloc_trim(0);  // what clients have left behind; it holds up nobody: nobody is connected
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
