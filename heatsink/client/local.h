// SPDX-License-Identifier: Apache-2.0
// The result of a read: a view of the local copy, or the loaded value.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/cache/read_guard.h"
#include "heatsink/client/cached_value.h"
#include "heatsink/client/engine.h"

namespace heatsink::client {

// Returns a loader for one key that can be stored: it owns copies of the loader and of the key.
template <class V, class L>
Load load_of(const L& loader, std::string_view key) {
  return [loader, key = std::string(key)]() mutable -> std::shared_ptr<CachedValue> {
    std::optional<V> value = loader(key);
    if (!value) return std::make_shared<MissingValue>();
    return std::make_shared<CachedValueOf<V>>(std::move(*value));
  };
}

// Points at the value; null if the key does not exist in the source. A hit copies nothing: the
// local copy stays in place and unchanged for as long as this object lives, whatever happens to the
// key or the Client meanwhile. Do not pass it to another thread, and release it soon: while a
// thread holds one, no replaced copy is freed. value() makes a copy that may be kept.
template <class V>
class [[nodiscard]] Local {
 public:
  Local(const Local&) = delete;
  Local& operator=(const Local&) = delete;

  explicit operator bool() const { return value_ != nullptr; }
  // REQUIRES: the key exists.
  const V& operator*() const { return *value_; }
  const V* operator->() const { return value_; }
  // A copy of the value; empty if the key does not exist.
  std::optional<V> value() const {
    return value_ != nullptr ? std::optional<V>(*value_) : std::nullopt;
  }

  // True if it came from the local copy, which may also say that the key does not exist.
  bool is_hit() const { return guard_.has_value(); }

 private:
  template <class>
  friend class Client;

  struct Peek {};
  struct Read {};
  struct Counted {};

  // Counts the read; calls `loader` if there is no copy.
  template <class L>
  Local(const Engine& engine, std::string_view key, L& loader) {
    const Engine::Lookup found = engine.read(key);
    if (found.cached != nullptr) [[likely]]
      hit(*found.cached);
    else
      ask(engine, key, found, loader);
  }
  // The same for a read that has been counted already.
  template <class L>
  Local(const Engine& engine, std::string_view key, L& loader, Counted) {
    const Engine::Lookup found = engine.peek(key);
    if (found.cached != nullptr)
      hit(*found.cached);
    else
      ask(engine, key, found, loader);
  }
  // Counts the read and asks no source.
  Local(const Engine& engine, std::string_view key, Read) {
    if (const CachedValue* const cached = engine.read(key).cached; cached != nullptr) hit(*cached);
  }
  // Counts nothing and asks no source.
  Local(const Engine& engine, std::string_view key, Peek) {
    if (const CachedValue* const cached = engine.peek(key).cached; cached != nullptr) hit(*cached);
  }

  template <class L>
  void ask(const Engine& engine, std::string_view key, Engine::Lookup found, L& loader) {
    if (found.is_kept) {
      own(engine.load(key, load_of<V>(loader, key)));
      return;
    }
    own(loader(std::string(key)));
    engine.end_cold_load(key);
  }
  void hit(const CachedValue& cached) {
    guard_.emplace(cache::ReadGuard::Adopted{});
    show(cached);
  }
  void show(const CachedValue& cached) {
    value_ = cached.missing ? nullptr : &static_cast<const CachedValueOf<V>&>(cached).value;
  }
  void own(SharedCachedValue cached) {
    owner_ = std::move(cached);
    show(*owner_);
  }
  void own(std::optional<V> value) {
    loaded_ = std::move(value);
    value_ = loaded_ ? &*loaded_ : nullptr;
  }

  std::optional<cache::ReadGuard> guard_;
  const V* value_ = nullptr;
  SharedCachedValue owner_;
  std::optional<V> loaded_;
};

}  // namespace heatsink::client
