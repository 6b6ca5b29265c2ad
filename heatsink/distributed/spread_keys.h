// SPDX-License-Identifier: Apache-2.0
// Reads keys from copies on several nodes of a cluster, and splits counters over them, without a
// proxy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/random.h"
#include "heatsink/base/result.h"
#include "heatsink/distributed/server.h"
#include "heatsink/spread/spread.h"

namespace heatsink::distributed {

struct SpreadOptions {
  std::size_t copies = 6;                   // of each key; 1 .. spread::kPiecesMax
  Nanos ttl = std::chrono::seconds(1);      // the longest life of a copy
  Nanos timeout = std::chrono::seconds(1);  // of one call
};

// The same copies as those of proxies with a rule spread.copies (docs/guides/spread.md), with the
// same bound: get() returns a value that the key had at most `ttl` before. Works on a single
// server, too, which then does all the work. Any thread; each call waits for the server: one round
// trip if there is a copy. Memory: a layout for each key, at most kKeysMax.
class SpreadKeys {
 public:
  static constexpr std::size_t kKeysMax = 10'000;
  static constexpr Nanos kFresh = std::chrono::seconds(10);  // a layout is asked for again

  // `server` outlives it. `seed`: different in each process. REQUIRES valid options.
  SpreadKeys(Server& server, const SpreadOptions& options, std::uint64_t seed);
  SpreadKeys(const SpreadKeys&) = delete;

  // nullopt: the key does not exist. If the node of a copy does not answer, the key itself is
  // asked. Fails if the key cannot be read, or is no string.
  Result<std::optional<std::string>> get(std::string_view key);
  // Ends all copies. Call it after each write of the key, before telling anybody of it. After an
  // error the copies end by themselves, within `ttl`.
  Status written(std::string_view key);

 private:
  struct Known {
    std::vector<std::uint16_t> slots;
    TimePoint at;
  };

  std::optional<std::vector<std::uint16_t>> slots_of(const std::string& key);
  Result<resp::Value> call(std::string_view function, std::string key,
                           std::vector<std::string> args);
  Result<std::optional<std::string>> ask_key(const std::string& key, std::int64_t* ttl_ms);
  std::uint64_t random();

  Server& server_;
  const SpreadOptions options_;
  std::mutex mutex_;
  Random random_;                                 // guarded by mutex_
  std::unordered_map<std::string, Known> known_;  // guarded by mutex_
};

// A counter in parts, as those of proxies with a rule spread.parts. All processes and proxies need
// the same number of parts, which may grow and must never shrink. Any thread.
class SplitCounter {
 public:
  // REQUIRES 1 .. spread::kPiecesMax parts. `server` outlives it.
  SplitCounter(Server& server, std::string_view key, std::size_t parts, Nanos timeout,
               std::uint64_t seed);
  SplitCounter(const SplitCounter&) = delete;

  // Adds to one part. After kUnavailable and kTimedOut it may have been added.
  Status add(std::int64_t amount);
  // The sum: at least what was added before this call. 0 if there is no part. kOutOfRange: it is no
  // int64. kInvalidArgument: a part is no integer.
  Result<std::int64_t> value();

 private:
  Server& server_;
  const std::string key_;
  const std::size_t parts_;
  const Nanos timeout_;
  std::mutex mutex_;
  Random random_;  // guarded by mutex_
};

}  // namespace heatsink::distributed
