// SPDX-License-Identifier: Apache-2.0
// Reads keys from copies on several nodes of a cluster, and splits counters over them, without a
// proxy.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/distributed/server.h"

namespace heatsink::distributed {

struct SpreadOptions {
  std::size_t copies = 6;                   // of each key; 2 .. 64
  Nanos ttl = std::chrono::seconds(1);      // the longest life of a copy; 100 ms .. 1 min
  Nanos timeout = std::chrono::seconds(1);  // of one call; up to 1 h
};
inline constexpr std::size_t kSpreadKeyBytesMax = 1024;               // longer keys have no copies
inline constexpr std::size_t kSpreadValueBytesMax = 1024UL * 1024UL;  // nor have longer values

// Uses the copies of proxies with a rule spread.copies (docs/guides/spread.md), with the
// same bound: get() returns a value that the key had at most `ttl` before. Works on a single
// server, too, which then does all the work. Any thread; each call waits for the server: one round
// trip if there is a copy, whose node must answer within 100 ms. Memory: at most 10,000 layouts.
class SpreadKeys {
 public:
  // kOutOfRange: an option is.
  static Result<std::unique_ptr<SpreadKeys>> make(std::shared_ptr<Server> server,
                                                  const SpreadOptions& options);
  ~SpreadKeys();
  SpreadKeys(const SpreadKeys&) = delete;

  // nullopt: the key does not exist. Fails if the key cannot be read, or is no string.
  Result<std::optional<std::string>> get(std::string_view key);
  // Ends all copies. Call it after each write of the key, before anybody learns of the write. After
  // an error the copies end by themselves, within `ttl`.
  Status written(std::string_view key);

 private:
  class Core;
  explicit SpreadKeys(std::unique_ptr<Core> core);

  const std::unique_ptr<Core> core_;
};

struct SplitCounterOptions {
  std::size_t parts = 8;                    // 2 .. 64
  Nanos timeout = std::chrono::seconds(1);  // of one call; up to 1 h
};

// A counter in parts, as those of proxies with a rule spread.parts. All processes and proxies need
// the same number of parts, which may grow and must never shrink. Any thread.
class SplitCounter {
 public:
  // kOutOfRange: an option is, or the key is longer than kSpreadKeyBytesMax.
  static Result<std::unique_ptr<SplitCounter>> make(std::shared_ptr<Server> server,
                                                    std::string_view key,
                                                    const SplitCounterOptions& options);
  ~SplitCounter();
  SplitCounter(const SplitCounter&) = delete;

  // Adds to one part, which costs one call. After kUnavailable and kTimedOut it may have been
  // added.
  Status add(std::int64_t amount);
  // The sum: at least what was added before this call. 0 if there is no part. One call for each
  // part. kOutOfRange: it is no int64. kInvalidArgument: a part is no integer.
  Result<std::int64_t> value();

 private:
  class Core;
  explicit SplitCounter(std::unique_ptr<Core> core);

  const std::unique_ptr<Core> core_;
};

}  // namespace heatsink::distributed
