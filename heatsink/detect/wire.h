// SPDX-License-Identifier: Apache-2.0
// Encodes a summary as bytes for other processes and nodes: versioned, checksummed, bounded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

inline constexpr std::uint8_t kWireVersion = 1;
inline constexpr std::size_t kWireBytesMax = 1 << 20;  // of one summary
inline constexpr std::size_t kWireKeysMax = 8192;
inline constexpr std::uint64_t kWireCountMax = std::uint64_t{1} << 53;  // exact in a double, too

// The layout, version 1. Numbers are LEB128 in their shortest spelling unless a size is given;
// counts are at most kWireCountMax, so 2048 summaries can be added without a carry.
//
//   "HSum"  version (1 byte)  XXH3-64 with seed 0 of all that follows (8 bytes, low ones first)
//   window and covered in ns, flags (1 covers_window, 2 sampled), dimension,
//   requests, reads, writes, hits, bytes, absent_max, number of keys
//   keys, by high, falling (ties by name, then db: the same summary gives the same bytes whatever
//   the seed of its hashes):
//     flags (1 truncated, 2 db, 4 writes, 8 hits, 16 bytes, 32 tallies, 64 reads), name, [digest: 8
//     bytes], the last key's high - this high (the first: kWireCountMax - high), high - low, [db],
//     [writes], [hits], [bytes], [reads; else low - writes], [commands, clients]
//     tallies: how many, then each: name, low, high - low
//   sections of later builds, each: number, size, bytes; those not known are passed over
//
// Hashes are not sent: each process has its own seed. The receiver hashes a whole name again. For a
// truncated name the sender adds a digest of the whole name, which is the same everywhere and is
// hashed in its place, so that a long key of two nodes joins to one key. A truncated name without a
// digest is not sent. `at` is not sent either: a BootClock has no meaning on another machine.

// Leaves out what exceeds a limit, the least busy keys first, and raises absent_max, so the bounds
// stay true. About 0.1 us and 30 bytes per key.
std::string encode(const Summary& summary);

// `at`: the receiver's time for this summary. `seed`: the receiver's. Errors: kUnsupported, a
// version that this build cannot read; kProtocol, not a summary, or damaged, or impossible (low >
// high, a key twice ...). The result meets the requirements of join(). Allocates for the data that
// is there, not for announced sizes.
Result<Summary> decode(std::string_view bytes, std::uint64_t seed, TimePoint at);

// Gives a summary of this process the hashes that decode() would give. Join needs them for
// truncated keys (the others keep theirs). Truncated keys without a digest are left out and raise
// absent_max. REQUIRES: hashed with `seed`.
void rehash(Summary& summary, std::uint64_t seed);

}  // namespace heatsink::detect
