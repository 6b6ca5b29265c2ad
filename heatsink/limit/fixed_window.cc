// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/fixed_window.h"

#include "heatsink/limit/since_zero.h"

namespace heatsink::limit {
Nanos FixedWindow::time_to(std::uint64_t windows_ahead, std::uint64_t now_ns) const noexcept {
  return Nanos(static_cast<std::int64_t>(windows_ahead * length_ns_ - now_ns % length_ns_));
}

Decision FixedWindow::try_acquire(std::uint64_t n, TimePoint now) noexcept {
  const bool is_possible = n <= count_;
  const std::uint64_t by = is_possible ? n : 0;
  const std::uint64_t now_ns = ns_since_zero(now);
  const std::uint64_t floor = now_ns / length_ns_ * count_;
  const Span span{.floor = floor,
                  .top = floor + count_,
                  .absurd = ns_since_zero(now + kStandstill) / length_ns_ * count_ + count_};
  const Level::Raised raised = level_.raise(by, span);
  Decision decision{.allowed = is_possible && raised.allowed, .remaining = raised.left(span, by)};
  if (!is_possible)
    decision.retry_after = kNever;
  else if (!raised.allowed)
    decision.retry_after = time_to((raised.from + by - span.top + count_ - 1) / count_, now_ns);
  return decision;
}

// A later window has already forgotten it.
void FixedWindow::give_back(std::uint64_t n, TimePoint taken_at) noexcept {
  level_.lower(n, (ns_since_zero(taken_at) / length_ns_ + 1) * count_);
}

}  // namespace heatsink::limit
