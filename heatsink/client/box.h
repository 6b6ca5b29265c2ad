// SPDX-License-Identifier: Apache-2.0
// One local copy: a value, or the knowledge that there is none, and how long it may be served.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/client/size_of.h"

namespace heatsink::client {

// What is kept of any copy, whatever its type. Immutable once it is shown to readers, but for the
// one mark that they set.
class Box {
 public:
  Box() = default;
  virtual ~Box() = default;
  Box(const Box&) = delete;
  Box& operator=(const Box&) = delete;

  std::size_t bytes = sizeof(Box);  // of memory, all in all
  bool missing = false;             // the loader said that the key does not exist
  TimePoint loaded_at{};            // when its load began
  TimePoint expires_at{};           // served before this only
  TimePoint refresh_at{};           // the first reader from then on asks for a new one

  // True for one caller: it is the one who asks for a new one.
  bool claim_refresh() const noexcept {
    return !is_claimed_.load(std::memory_order_relaxed) &&
           !is_claimed_.exchange(true, std::memory_order_relaxed);
  }

 private:
  mutable std::atomic<bool> is_claimed_{false};
};

using SharedBox = std::shared_ptr<const Box>;

// Fetches the value anew; throws what the caller's loader throws.
using Load = std::function<std::shared_ptr<Box>()>;

template <class V>
class BoxOf final : public Box {
 public:
  explicit BoxOf(V v) : value(std::move(v)) {
    bytes = sizeof(BoxOf) - sizeof(V) + SizeOf<V>::bytes(value);
  }
  const V value;
};

// A box without a value: REQUIRES to be marked as missing.
class EmptyBox final : public Box {
 public:
  EmptyBox() { missing = true; }
};

}  // namespace heatsink::client
