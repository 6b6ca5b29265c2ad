// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/keeper_rest.h"

#include <malloc.h>

#include <algorithm>

#include "heatsink/base/process_metrics.h"
#include "heatsink/net/tls_memory.h"

namespace heatsink::copies {

void KeeperRest::look(const std::function<bool()>& has_work, TimePoint now) {
  if (has_work()) woken_at_ = now;
  if (timers_.slow() || now - woken_at_ < kAwakeFor) return;
  // Before the second look: a worker that wakes up in between sees it and wakes the keeper.
  rests_.store(true);
  if (has_work()) return wake(now);
  timers_.slow_down();
  // Returns the memory of former clients and bursts; no client is at work that it could delay.
  malloc_trim(0);
}

void KeeperRest::wake(TimePoint now) {
  rests_.store(false);
  woken_at_ = now;
  timers_.wake();
}

// A trim frees whole pages between pieces that are in use, too; the top of the heap alone would not
// be enough.
void KeeperRest::trim_after_burst(TimePoint now) {
  const std::uint64_t unused = unused_memory();
  if (!trim_.due(unused, now)) return;
  malloc_trim(0);
  trim_.trimmed(unused, unused_memory(), now);
}

// In RAM, but neither a buffer nor a copy nor of OpenSSL: also what the program always has.
std::uint64_t KeeperRest::unused_memory() const {
  const auto buffers = std::max<std::int64_t>(shared_.buffers_bytes.load(), 0);
  const std::uint64_t in_use =
      static_cast<std::uint64_t>(buffers) + shared_.table.bytes().count + net::tls_memory_bytes();
  const std::uint64_t resident = resident_memory().all;
  return resident - std::min(resident, in_use);
}

}  // namespace heatsink::copies
