// SPDX-License-Identifier: Apache-2.0
// What all sessions of a run share: the history, the keys, the numbers given out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/consistency/op.h"

namespace heatsink::consistency {

// One thread.
struct Recorder {
  static constexpr std::uint32_t kKeysPerDb = 1000;
  static constexpr std::uint32_t kUsedDatabases = 15;  // LoadSpec::db is lower

  History history;
  std::string prefix;               // of the keys' names
  std::vector<std::uint32_t> keys;  // all that occur, for what removes them all
  std::uint32_t last_session = 0;
  std::uint32_t last_database = kUsedDatabases;  // that took the place of another one
  std::uint64_t errors = 0;                      // replies that were errors, and connections lost
  std::uint64_t near_reads = 0;                  // that clients have answered by themselves
  std::string first_error;                       // its text; ""
  Nanos wall_ahead{0};  // the clients' wall clock, less the clock of the history

  static std::uint32_t key(std::uint32_t db, std::uint32_t number) {
    return db * kKeysPerDb + number;
  }
  static bool is_in(std::uint32_t db, std::uint32_t key) { return key / kKeysPerDb == db; }
  std::string name(std::uint32_t key) const { return prefix + std::to_string(key % kKeysPerDb); }

  void know(std::uint32_t key) {
    if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
  }

  void add(const Op& op) {
    const bool is_read = op.kind == Kind::kRead || op.kind == Kind::kSum;
    if (is_read && !op.known()) return;  // it says nothing
    history.push_back(op);
  }
};

}  // namespace heatsink::consistency
