// SPDX-License-Identifier: Apache-2.0
// What the workers ask the keeper for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/cache/consistency_policy.h"
#include "heatsink/cache/read.h"
#include "heatsink/copies/local_reads.h"

namespace heatsink::copies {

// A local copy of one read of a hot key, taken from the server after `fence`, which is not in the
// future.
struct FillRequest {
  static constexpr std::size_t kNoWorker = ~std::size_t{0};  // the keeper itself wants it

  std::size_t worker;
  KeyHash hash;
  std::string key;
  std::uint32_t db;
  TimePoint fence;
  ReadHash which{};
  cache::StoredRead read = {};                // GET unless it says otherwise
  cache::ConsistencyPolicy consistency = {};  // the key's
};

// What has become of a fill.
enum class FillOutcome : std::uint8_t {
  kKept,
  kKeptNil,  // no such key, and the copy says so
  kSpoiled,  // the key changed meanwhile: nothing is kept
  kTooBig,
  kRefused,     // by the server: another type
  kNoDatabase,  // by the server: SELECT of it
  kTableFull,   // not asked: cache.maximum-tracked-keys
  kFailed,      // no answer
  kNoRoom,      // the table has refused it (cache::Entry::uncacheable), or the key is hot no longer
};

// Word that every invalidation caused so far has been processed. `flush`: drop all copies first,
// since the server may not say what has become invalid.
struct BarrierRequest {
  std::size_t worker;
  std::uint64_t session;  // 0: nobody waits
  bool flush;
  // 0: the replies that the session holds wait; else the session itself, and calls this wait so.
  std::uint64_t ticket = 0;
};

}  // namespace heatsink::copies
