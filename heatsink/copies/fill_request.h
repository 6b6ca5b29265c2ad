// SPDX-License-Identifier: Apache-2.0
// The requests of the workers to the keeper.
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

// Asks for a local copy of one read, with a fill sent after `fence`. `fence` must not be in the
// future.
struct FillRequest {
  static constexpr std::size_t kNoWorker = ~std::size_t{0};  // the keeper itself wants the copy

  std::size_t worker;
  KeyHash hash;
  std::string key;
  std::uint32_t db;
  TimePoint fence;
  ReadHash which{};
  cache::StoredRead read = {};                // default: GET
  cache::ConsistencyPolicy consistency = {};  // of the key
  bool admits = false;  // the key has earned a copy: the keeper makes room for it in the hot table
};

// The outcome of a fill.
enum class FillOutcome : std::uint8_t {
  kKept,
  kKeptNil,  // the key does not exist, and the copy says so
  kSpoiled,  // the key changed meanwhile, so no copy is kept
  kTooBig,
  kRefused,     // the server refused the read: wrong type
  kNoDatabase,  // the server refused to SELECT the database
  kTableFull,   // not sent: cache.maximum-tracked-keys is used up
  kFailed,      // no reply
  kNoRoom,      // the table refused it (cache::Entry::uncacheable), or the key is no longer hot
};

// Asks for notice when all invalidations caused so far have been processed. `flush`: drop all
// copies first, because the server may not report what became invalid. `after_code`: drop them
// unless the server shows that no databases were exchanged.
struct BarrierRequest {
  std::size_t worker;
  std::uint64_t session;  // 0: no session waits
  bool flush;
  // 0: the session's held replies wait. Otherwise the session itself waits, under this number.
  std::uint64_t ticket = 0;
  bool after_code = false;
};

}  // namespace heatsink::copies
