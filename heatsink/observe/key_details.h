// SPDX-License-Identifier: Apache-2.0
// Asks a server about single keys: type, encoding, size, time to live.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/observe/command_pipeline.h"
#include "heatsink/redis/redis.h"

namespace heatsink::observe {

using KeyDetails = redis::ValueFacts;

// A protocol of its own. Asks for a few keys, one at a time and again after kFresh, and forgets
// those that nobody wants any more. One thread.
class DetailsReader {
 public:
  using Key = std::pair<std::uint32_t, std::string>;  // database, name

  static constexpr Nanos kFresh = std::chrono::seconds(10);
  static constexpr std::size_t kKeysMax = 26;

  explicit DetailsReader(Login login) : pipeline_({.login = std::move(login)}) {}

  ServerProtocol& protocol() { return pipeline_; }
  // The first kKeysMax of them, and the first of those first: keys that come and go behind it, as
  // the rest of a list of the busiest does, do not keep it waiting.
  void want(std::span<const Key> keys);
  void tick(TimePoint now);
  // Null: not known yet.
  const KeyDetails* find(const Key& key) const;

 private:
  struct Entry {
    std::optional<KeyDetails> details;  // nothing: not known yet
    std::size_t place = 0;              // among those that are wanted
    TimePoint asked_at{};
    bool asked = false;
  };
  void ask(const Key& key, TimePoint now);
  void take(const Key& key, std::size_t question, const Result<resp::Value>& reply);

  CommandPipeline pipeline_;
  std::map<Key, Entry> entries_;
  KeyDetails present_;     // of the key that is being asked for
  bool answered_ = false;  // and not only with errors
};

}  // namespace heatsink::observe
