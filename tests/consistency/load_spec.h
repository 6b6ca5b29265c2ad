// SPDX-License-Identifier: Apache-2.0
// What some sessions of a load do: "via=1,count=8,depth=16,set=100,del=5".
#pragma once

#include <cstdint>
#include <string_view>

#include "heatsink/base/result.h"

namespace heatsink::consistency {

// The weights are parts of 10 000 operations; what is left are GETs.
struct LoadSpec {
  static constexpr std::uint32_t kParts = 10'000;

  std::uint32_t via = 0;       // of the targets: 0 is the server, 1, 2, ... are proxies
  std::uint32_t count = 1;     // sessions
  std::uint32_t depth = 1;     // operations in a pipeline
  std::uint32_t pace_us = 0;   // a pipeline so often, whether or not the last one is answered; 0:
                               // as soon as it is
  std::uint32_t think_us = 0;  // pause after each answer, where there is no pace
  std::uint32_t db = 0;
  std::uint32_t first = 0;  // of the keys it knows
  std::uint32_t keys = 8;   // how many
  std::uint32_t set = 0;
  std::uint32_t px = 0;        // SET PX `ttl`
  std::uint32_t ttl = 200;     // ms
  std::uint32_t del = 0;       // DEL
  std::uint32_t expire = 0;    // PEXPIRE `ttl` LT
  std::uint32_t pxat = 0;      // SET PXAT, `ttl` from now by the client's wall clock
  std::uint32_t expireat = 0;  // PEXPIREAT LT, likewise
  std::uint32_t range = 0;     // GETRANGE of all: the same value, by another copy than that of GET
  std::uint32_t mget = 0;      // of two keys
  std::uint32_t lcs = 0;       // LCS of a key with itself: its value, never from a copy
  std::uint32_t eval = 0;      // a script that sets a key it does not declare
  std::uint32_t flush = 0;     // FLUSHALL
  std::uint32_t barrier = 0;   // HEATSINK BARRIER
  std::uint32_t cas = 0;       // pipelines that are WATCH, GET, MULTI, SET, EXEC
  std::uint32_t multi = 0;     // pipelines that are MULTI, SET; then EXEC, GET
  // Pipelines that exchange the database with an empty one and read a key: by SWAPDB, by scripts,
  // by a function, in a transaction. The server needs as many databases as there will be exchanges.
  std::uint32_t swap = 0;
  std::uint32_t add = 0;  // INCRBY: then all its keys are counters, of all sessions
  std::uint32_t sum = 0;  // GET of a counter
  // 1: each key is a hash, and its value is that of one field, which is written and read, ends and
  // is removed by itself: by set, px, del, expire, lcs and all kinds of reads.
  std::uint32_t hash = 0;
  // 1: the client keeps what GET has told it (CLIENT TRACKING), and answers from that.
  std::uint32_t near = 0;
  std::uint32_t beside = 0;  // HSETEX of another field of the hash, which lives for a minute
};

// The error names the word that is not understood.
Result<LoadSpec> parse_load_spec(std::string_view text);

}  // namespace heatsink::consistency
