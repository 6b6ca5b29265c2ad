// SPDX-License-Identifier: Apache-2.0
// What a history says of one key: its versions, and the moments at which it cannot have had any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tests/consistency/op.h"

namespace heatsink::consistency {

// How far the server's clock and ours, and milliseconds rounded by both, may put an end of life.
inline constexpr Nanos kExpirySlack = Millis(3);

// A value and the operations that have to do with it.
struct Version {
  std::uint64_t value = kNil;
  const Op* write = nullptr;        // null: nobody wrote it
  const Op* first = nullptr;        // of all its operations the one that ended first; never null
  const Op* last_firm = nullptr;    // invoked last, of the write and of reads from the server
  const Op* last_cached = nullptr;  // invoked last, of the reads that a copy may have answered

  // Written at this time, if not earlier. kNever: written, perhaps, and seen by nobody.
  TimePoint seen() const { return first->responded; }
  // Not written before.
  TimePoint begun() const { return write == nullptr ? TimePoint::min() : write->invoked; }
};

// Something that may have removed the key, at some moment of [begin, end].
struct Removal {
  TimePoint begin;
  TimePoint end;
};

// Not thread-safe; holds pointers into the operations. O(n log n) to make, n operations.
class KeyHistory {
 public:
  // REQUIRES that all are of one key, and outlive this.
  explicit KeyHistory(std::span<const Op* const> ops);

  std::span<const Op* const> ops() const { return ops_; }
  std::span<const Version> versions() const { return versions_; }  // by value
  const Version* find(std::uint64_t value) const;                  // null: not there. O(log n)

  // Of the versions that were there before `time`, the one whose write was sent last; null: there
  // is none. O(log n).
  const Version* latest_before(TimePoint time) const;

  // Whether the key may have been missing at some moment of [from, to] because of something that
  // may have happened in it, or always has been. O(log n).
  bool may_be_missing(TimePoint from, TimePoint to) const;

  // The earliest moment at which the version can no longer be there, by its own TTL; kNever. Whose:
  // the server's, or a copy's, which differ where the server's clock jumps.
  enum class Of : std::uint8_t { kServer, kCopy };
  static TimePoint own_end(const Version& version, Of whose);
  // Likewise, by an EXPIRE that found it. O(log n).
  TimePoint expired_at(const Version& version, Of whose) const;
  // Likewise, by a later write or a removal. O(log n).
  TimePoint overwritten_at(const Version& version) const;

 private:
  struct Bound {
    TimePoint begun;
    TimePoint end;
  };
  struct Latest {
    TimePoint seen;
    std::size_t version;
  };
  void order_versions();
  static void finish(std::vector<Bound>& bounds);
  static TimePoint earliest_after(const std::vector<Bound>& bounds, TimePoint seen);
  void add_removal(TimePoint begin, TimePoint end);

  std::vector<const Op*> ops_;
  std::vector<Version> versions_;
  std::vector<Latest> latest_;        // by seen; `version` is the one begun last of all up to here
  std::vector<Removal> removals_;     // by begin; `end` is the latest of all up to here
  std::vector<Bound> expiries_;       // by begun; `end` is the earliest of all from here on
  std::vector<Bound> copy_expiries_;  // likewise
  std::vector<Bound> successors_;     // likewise
};

// One for each key that occurs, in the order of the keys, without barriers and counters.
// O(n log n).
std::vector<KeyHistory> split_by_key(const History& history);

}  // namespace heatsink::consistency
