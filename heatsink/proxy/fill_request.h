// SPDX-License-Identifier: Apache-2.0
// What the workers ask the keeper for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/cache/read.h"
#include "heatsink/cache/terms.h"
#include "heatsink/proxy/local_reads.h"

namespace heatsink::proxy {

// A local copy of one read of a hot key, taken from the server after `fence`, which is not in the
// future.
struct FillRequest {
  std::size_t worker;
  KeyHash hash;
  std::string key;
  std::uint32_t db;
  TimePoint fence;
  ReadHash which{};
  cache::StoredRead read = {};  // GET unless it says otherwise
  cache::Terms terms = {};      // the key's
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

}  // namespace heatsink::proxy
