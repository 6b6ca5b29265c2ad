// SPDX-License-Identifier: Apache-2.0
// What a server tells of single keys: type, encoding, size, time to live.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/observe/dialogue.h"

namespace heatsink::observe {

// Each may be forbidden: then it is not told.
struct KeyDetails {
  std::string type, encoding;                // "hash", "listpack"; "none": there is no such key
  std::optional<std::uint64_t> value_bytes;  // with the key's overhead: MEMORY USAGE; else STRLEN
  std::optional<Nanos> ttl;
  bool never_expires = false;
};

// A conversation of its own. Asks for a few keys at a time and again after kFresh, and forgets
// those that nobody wants any more. Five commands per key; MEMORY USAGE samples five elements, so
// no key is too big to ask for. One thread.
class DetailsReader {
 public:
  using Key = std::pair<std::uint32_t, std::string>;  // database, name

  static constexpr Nanos kFresh = std::chrono::seconds(10);
  static constexpr std::size_t kKeysMax = 10;

  explicit DetailsReader(Login login) : dialogue_({.login = std::move(login)}) {}

  Conversation& conversation() { return dialogue_; }
  // The first kKeysMax of them.
  void want(std::span<const Key> keys);
  void tick(TimePoint now);
  // Null: not known yet.
  const KeyDetails* find(const Key& key) const;

 private:
  struct Entry {
    KeyDetails details;
    TimePoint asked_at{};
    bool asked = false;
    bool known = false;
  };
  void ask(const Key& key, TimePoint now);
  void take(const Key& key, const resp::Value& reply, void (*put)(KeyDetails&, const resp::Value&));

  Dialogue dialogue_;
  std::map<Key, Entry> entries_;
};

}  // namespace heatsink::observe
