// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/buckets.h"

namespace heatsink::limit {

Decision TokenBucket::try_acquire(std::uint64_t n, TimePoint now) noexcept {
  const bool is_possible = n <= burst_;
  const std::uint64_t by = is_possible ? n * pace_.units_each() : 0;
  const Span full = pace_.span(now, kStandstill, burst_);
  const Span span = {full.floor, full.top + ahead_, full.absurd + ahead_};
  const Level::Raised raised = level_.raise(by, span);
  Decision decision{.allowed = is_possible && raised.allowed,
                    .remaining = raised.left(span, by) / pace_.units_each()};
  if (!is_possible)
    decision.retry_after = kNever;
  else if (!raised.allowed)
    decision.retry_after = pace_.time_for(raised.from + by - span.top);
  else if (raised.from + by > full.top)
    decision.wait = pace_.time_for(raised.from + by - full.top);
  return decision;
}

void TokenBucket::give_back(std::uint64_t n, TimePoint) noexcept {
  level_.lower(n * pace_.units_each(), UINT64_MAX);
}

Decision LeakyBucket::try_acquire(std::uint64_t n, TimePoint now) noexcept {
  const bool is_possible = n <= burst_;
  const std::uint64_t by = is_possible ? n * pace_.units_each() : 0;
  const Span span = pace_.span(now, kStandstill, burst_);
  const Level::Raised raised = level_.raise(by, span);
  Decision decision{.allowed = is_possible && raised.allowed,
                    .remaining = raised.left(span, by) / pace_.units_each()};
  if (!is_possible)
    decision.retry_after = kNever;
  else if (!raised.allowed)
    decision.retry_after = pace_.time_for(raised.from + by - span.top);
  else if (n != 0 && raised.from > span.floor)
    decision.wait = pace_.time_for(raised.from - span.floor);
  return decision;
}

void LeakyBucket::give_back(std::uint64_t n, TimePoint) noexcept {
  level_.lower(n * pace_.units_each(), UINT64_MAX);
}

}  // namespace heatsink::limit
