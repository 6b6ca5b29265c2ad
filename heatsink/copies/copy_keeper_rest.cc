// SPDX-License-Identifier: Apache-2.0
// Slows the keeper down while no client works and there is no copy: it then only checks the server.
// Returns memory to the system. Lets the workers count no writes while no key is hot.
#include <malloc.h>

#include <algorithm>
#include <chrono>

#include "heatsink/base/process_metrics.h"
#include "heatsink/copies/copy_keeper.h"
#include "heatsink/net/tls_memory.h"

namespace heatsink::copies {
namespace {

// The keeper stays awake for this long after its last work.
constexpr Nanos kAwakeFor = std::chrono::seconds(3);
constexpr Nanos kLooksAgainAfter = Millis(1);  // for the replies of uncounted writes

}  // namespace

bool CopyKeeper::has_work() const {
  // While a window still contains accesses, the workers hold memory for them.
  const bool seen = std::any_of(merged_.begin(), merged_.end(),
                                [](const detect::Summary& merged) { return merged.requests > 0; });
  return seen || shared_.workers_awake.load() > 0 || shared_.table.copies() > 0 ||
         warmer_.size() > 0 || !warm_waiters_.empty() || search_timer_ != 0;
}

// A worker that wakes up meanwhile is either seen by the second has_work(), or it sees rests_ and
// wakes the keeper.
void CopyKeeper::rest_if_idle() {
  const TimePoint now = loop_.clock();
  if (has_work()) woken_at_ = now;
  if (timers_.slow() || now - woken_at_ < kAwakeFor) return;
  // Before the second look: a worker that wakes up in between sees it and wakes the keeper.
  rests_.store(true);
  if (has_work()) return wake();
  timers_.slow_down();
  // Returns the memory of former clients and bursts; no client is at work that it could delay.
  malloc_trim(0);
}

// The memory of a burst goes back although other clients go on. A trim frees whole pages between
// pieces that are in use, too; the top of the heap alone would not be enough.
void CopyKeeper::trim_after_burst() {
  const std::uint64_t unused = unused_memory();
  if (!trim_.due(unused, loop_.now())) return;
  malloc_trim(0);
  trim_.trimmed(unused, unused_memory(), loop_.now());
}

// In RAM, but neither a buffer nor a copy nor of OpenSSL: also what the program always has.
std::uint64_t CopyKeeper::unused_memory() const {
  const auto buffers = std::max<std::int64_t>(shared_.buffers_bytes.load(), 0);
  const std::uint64_t in_use =
      static_cast<std::uint64_t>(buffers) + shared_.table.bytes().count + net::tls_memory_bytes();
  const std::uint64_t resident = resident_memory().all;
  return resident - std::min(resident, in_use);
}

void CopyKeeper::wake() {
  rests_.store(false);
  woken_at_ = loop_.clock();
  timers_.wake();
}

// Before the workers get this turn's answers, so that most copies may be served at once.
void CopyKeeper::follow_keys() {
  cache::WriteCounting& counting = shared_.fences.counting();
  if (!counting.follow(shared_.table.none(), shared_.epochs, loop_.now()) || looks_again_) return;
  looks_again_ = true;
  loop_.call_after(kLooksAgainAfter, [this] { looks_again_ = false; });  // and ends a turn
}

void CopyKeeper::worker_woke() {
  if (rests_.load()) loop_.post([this] { wake(); });
}

}  // namespace heatsink::copies
