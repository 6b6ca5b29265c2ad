// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/reply_pace.h"

namespace heatsink::capture {
namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

std::optional<ReplyWatch> ReplyPace::next(std::int64_t now_ns, const RepliesSeen& seen) {
  // the first call, or the clock was set
  if (!mark_ns_ || now_ns < *mark_ns_ || now_ns < slot_ns_) {
    mark(now_ns, seen);
    slot_ns_ = now_ns;
    return std::nullopt;
  }
  return part_ ? next_part(now_ns, seen) : leave_all(now_ns, seen);
}

double ReplyPace::since_mark(const RepliesSeen& seen) const {
  return static_cast<double>(seen.segments - mark_.segments) +
         static_cast<double>(seen.bytes - mark_.bytes) / kSegmentBytes;
}

void ReplyPace::mark(std::int64_t now_ns, const RepliesSeen& seen) {
  mark_ns_ = now_ns;
  mark_ = seen;
}

std::optional<ReplyWatch> ReplyPace::leave_all(std::int64_t now_ns, const RepliesSeen& seen) {
  const std::int64_t took_ns = now_ns - *mark_ns_;
  if (took_ns < kLook.count()) return std::nullopt;
  const bool is_fast = since_mark(seen) > replies_max_ * seconds(took_ns);
  mark(now_ns, seen);
  if (!is_fast) return std::nullopt;
  part_ = 0;
  slot_ns_ = now_ns;
  return ReplyWatch::only(*part_);
}

std::optional<ReplyWatch> ReplyPace::next_part(std::int64_t now_ns, const RepliesSeen& seen) {
  if (now_ns - slot_ns_ < kSlot.count()) return std::nullopt;
  slot_ns_ = now_ns;
  part_ = (*part_ + 1) % ReplyWatch::kParts;
  if (*part_ != 0) return ReplyWatch::only(*part_);
  // Each part was watched for 1 / kParts of the round, so the sum stands for one part of the
  // traffic.
  const double all = since_mark(seen) * ReplyWatch::kParts;
  const bool is_slow = all < replies_max_ / 2 * seconds(now_ns - *mark_ns_);
  mark(now_ns, seen);
  if (!is_slow) return ReplyWatch::only(*part_);
  part_.reset();
  return ReplyWatch{};
}

}  // namespace heatsink::capture
