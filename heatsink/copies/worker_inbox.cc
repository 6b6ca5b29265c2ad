// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/worker_inbox.h"

#include <algorithm>
#include <utility>

namespace heatsink::copies {
namespace {

template <class Each>
void append_some(std::vector<Each>& to, const std::vector<Each>& more) {
  const std::size_t room = WorkerInbox::kSampledMax - std::min(to.size(), WorkerInbox::kSampledMax);
  const auto end = more.begin() + static_cast<std::ptrdiff_t>(std::min(room, more.size()));
  to.insert(to.end(), more.begin(), end);
}

}  // namespace

WorkerInbox::WorkerInbox(std::size_t workers) {
  slots_.reserve(workers);
  for (std::size_t i = 0; i < workers; ++i) slots_.push_back(std::make_unique<Slot>());
}

// What is replaced is freed outside the lock: it may be megabytes.
bool WorkerInbox::put(std::size_t worker, std::vector<detect::Summary> summaries, bool is_urgent) {
  Slot& slot = *slots_[worker];
  {
    const std::lock_guard lock(slot.mutex);
    slot.content.summaries.swap(summaries);
    slot.content.is_urgent |= is_urgent;
  }
  if (!summaries.empty()) replaced_.fetch_add(1, std::memory_order_relaxed);
  return !is_told_.exchange(true);
}

bool WorkerInbox::put(std::size_t worker, const WorkerSample& sample) {
  Slot& slot = *slots_[worker];
  {
    const std::lock_guard lock(slot.mutex);
    append_some(slot.content.sample.accesses, sample.accesses);
    append_some(slot.content.sample.hits, sample.hits);
    slot.content.sample.work += sample.work;
  }
  return !is_told_.exchange(true);
}

WorkerInbox::Content WorkerInbox::take(std::size_t worker) {
  Slot& slot = *slots_[worker];
  const std::lock_guard lock(slot.mutex);
  return std::exchange(slot.content, {});
}

}  // namespace heatsink::copies
