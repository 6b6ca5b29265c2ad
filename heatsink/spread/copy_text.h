// SPDX-License-Identifier: Apache-2.0
// Defines the values that stand in a copy's place, and what a reader does with each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"

namespace heatsink::spread {

// The life of a copy, in one key of its node. Each step is one command there:
//
//   nothing    -- a reader: SET lease NX PX ttl -->            lease
//   lease      -- the same reader: the fill script -->         value, or "no such key"
//   anything   -- a writer: SET tombstone PX kTombstone -->    tombstone
//   anything   -- its TTL ends -->                             nothing
//
// A reader takes the lease, then reads the original, then fills. The fill keeps the end of the
// lease, so a copy is never served later than its ttl after the reader asked for the original, by
// the clock of one node. A fill that arrives late, after a writer or an end, finds another text
// than its lease, and does nothing. docs/decisions/0066 has the reasons.
enum class CopyKind : std::uint8_t {
  kValue,      // "v" and the value
  kNone,       // "n": the original does not exist
  kLease,      // "l" and 16 hexadecimal digits: a reader is reading the original
  kTombstone,  // "t": the original was written a moment ago
  kUnknown,    // of a later version, or of a client that uses this name
};

struct CopyText {
  CopyKind kind = CopyKind::kUnknown;
  std::string_view value;  // of kValue; a view of the text
};
CopyText parse_copy(std::string_view text);  // any bytes; O(1)

std::string value_text(std::string_view value);
inline constexpr std::string_view kNoneText = "n";
inline constexpr std::string_view kTombstoneText = "t";
// `token` tells leases apart: random, and of 64 bits, so that no two leases of a copy are alike.
std::string lease_text(std::uint64_t token);

// The next step of a reader.
enum class AfterCopy : std::uint8_t {
  kServe,      // the value
  kServeNone,  // the original does not exist
  kTakeLease,  // there is no copy: tries to become the one that fills it
  kAskKey,     // asks the original, and fills nothing
};
AfterCopy after_copy(CopyKind kind);

// Only a reader that has set the lease fills. The others ask the original meanwhile.
inline AfterCopy after_lease(bool granted) {
  return granted ? AfterCopy::kTakeLease : AfterCopy::kAskKey;
}

// After a write no copies are made for this time, so that a key with many writes does not have a
// fill for each of them: below about 100 reads between two writes, copies cost more than they save.
inline constexpr Nanos kTombstone = Millis(10);

// Longer values get no copies.
inline constexpr std::size_t kValueBytesMax = std::size_t{1024} * 1024;
// A node that has a copy must answer a reader within this time. If it does not, the key itself is
// asked, and for kSuspicion no copy there.
inline constexpr Nanos kReadPatience = Millis(100);
inline constexpr Nanos kSuspicion = Millis(500);

// The life of one lease and its copy: between three quarters and all of `ttl`, so that the copies
// of a key do not end together. Jitter only shortens: `ttl` is a bound.
Nanos jittered(Nanos ttl, std::uint64_t random);

}  // namespace heatsink::spread
