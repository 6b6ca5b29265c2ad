// SPDX-License-Identifier: Apache-2.0
// The result of a read: a view of the local copy, or the value that was loaded.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/cache/pins.h"
#include "heatsink/client/box.h"
#include "heatsink/client/engine.h"

namespace heatsink::client {

// A loader for one key that can be kept: it holds copies of the loader and of the key.
template <class V, class L>
Load load_of(const L& loader, std::string_view key) {
  return [loader, key = std::string(key)]() mutable -> std::shared_ptr<Box> {
    std::optional<V> value = loader(key);
    if (!value) return std::make_shared<EmptyBox>();
    return std::make_shared<BoxOf<V>>(std::move(*value));
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
  bool is_hit() const { return pin_.has_value(); }

 private:
  template <class>
  friend class Client;

  struct Peek {};
  struct Read {};
  struct Counted {};

  // Counts the read; calls `loader` if there is no copy.
  template <class L>
  Local(const Engine& engine, std::string_view key, L& loader) {
    const Engine::Sight sight = engine.read(key);
    if (sight.box != nullptr) [[likely]]
      hit(*sight.box);
    else
      ask(engine, key, sight, loader);
  }
  // The same, where the read has been counted already.
  template <class L>
  Local(const Engine& engine, std::string_view key, L& loader, Counted) {
    const Engine::Sight sight = engine.peek(key);
    if (sight.box != nullptr)
      hit(*sight.box);
    else
      ask(engine, key, sight, loader);
  }
  // Counts the read and asks no source.
  Local(const Engine& engine, std::string_view key, Read) {
    if (const Box* const box = engine.read(key).box; box != nullptr) hit(*box);
  }
  // Counts nothing and asks no source.
  Local(const Engine& engine, std::string_view key, Peek) {
    if (const Box* const box = engine.peek(key).box; box != nullptr) hit(*box);
  }

  template <class L>
  void ask(const Engine& engine, std::string_view key, Engine::Sight sight, L& loader) {
    if (sight.is_hot) {
      own(engine.load(key, load_of<V>(loader, key)));
      return;
    }
    own(loader(std::string(key)));
    engine.passed(key);
  }
  void hit(const Box& box) {
    pin_.emplace(cache::Pin::Adopted{});
    show(box);
  }
  void show(const Box& box) {
    value_ = box.missing ? nullptr : &static_cast<const BoxOf<V>&>(box).value;
  }
  void own(SharedBox box) {
    owner_ = std::move(box);
    show(*owner_);
  }
  void own(std::optional<V> value) {
    loaded_ = std::move(value);
    value_ = loaded_ ? &*loaded_ : nullptr;
  }

  std::optional<cache::Pin> pin_;
  const V* value_ = nullptr;
  SharedBox owner_;
  std::optional<V> loaded_;
};

}  // namespace heatsink::client
