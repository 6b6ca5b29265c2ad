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

// Has a connection of its own. Asks for a few keys, one at a time, again after kFresh, and forgets
// keys that want() no longer lists. One thread.
class DetailsReader {
 public:
  using Key = std::pair<std::uint32_t, std::string>;  // database, name

  static constexpr Nanos kFresh = std::chrono::seconds(10);
  static constexpr std::size_t kKeysMax = 26;

  explicit DetailsReader(Login login) : pipeline_({.login = std::move(login)}) {}

  ServerProtocol& protocol() { return pipeline_; }
  // Takes the first kKeysMax keys and asks for them in this order. The end of a list of busy keys
  // changes often; that does not delay its first keys.
  void want(std::span<const Key> keys);
  void tick(TimePoint now);
  // Null: not known yet.
  const KeyDetails* find(const Key& key) const;

 private:
  struct Entry {
    std::optional<KeyDetails> details;  // nothing: not known yet
    std::size_t place = 0;              // its position in the list of want()
    TimePoint asked_at{};
    bool asked = false;
  };
  void ask(const Key& key, TimePoint now);
  void take(const Key& key, std::size_t question, const Result<resp::Value>& reply);

  CommandPipeline pipeline_;
  std::map<Key, Entry> entries_;
  KeyDetails present_;     // of the key being asked for
  bool answered_ = false;  // at least one reply was not an error
};

}  // namespace heatsink::observe
