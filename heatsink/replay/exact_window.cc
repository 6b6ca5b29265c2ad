// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/exact_window.h"

#include <algorithm>
#include <cassert>

namespace heatsink::replay {

ExactWindow::ExactWindow(std::span<const TraceAccess> accesses, std::size_t keys, Nanos window,
                         std::uint32_t slots)
    : accesses_(accesses),
      slot_ns_(std::max<std::int64_t>(window.count() / slots, 1)),
      slots_(slots),
      counts_(keys),
      writes_(keys),
      keys_with_(2) {}

void ExactWindow::change(const TraceAccess& access, bool comes) {
  const std::uint32_t step = comes ? 1U : UINT32_MAX;  // + 1 or - 1, modulo 2^32
  std::uint32_t& count = counts_[access.key];
  --keys_with_[count];  // that of zero means nothing
  count += step;
  if (count == keys_with_.size()) keys_with_.push_back(0);
  ++keys_with_[count];
  if (access.operation() == Operation::kWrite) writes_[access.key] += step;
}

void ExactWindow::advance(std::int64_t now_ns) {
  const std::int64_t begin_ns = (now_ns / slot_ns_ - slots_ + 1) * slot_ns_;
  if (begin_ns <= begin_ns_) return;
  begin_ns_ = begin_ns;
  for (; first_ < next_ && accesses_[first_].at_ns < begin_ns_; ++first_)
    change(accesses_[first_], false);
}

std::uint32_t ExactWindow::add() {
  assert(next_ < accesses_.size());
  const TraceAccess& access = accesses_[next_];
  advance(access.at_ns);
  ++next_;
  change(access, true);
  return counts_[access.key];
}

std::uint32_t ExactWindow::nth(std::size_t n) const {
  std::size_t seen = 0;
  for (std::size_t count = keys_with_.size() - 1; count > 0; --count) {
    seen += keys_with_[count];
    if (seen >= n) return static_cast<std::uint32_t>(count);
  }
  return 0;
}

}  // namespace heatsink::replay
