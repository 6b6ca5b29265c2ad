// SPDX-License-Identifier: Apache-2.0
// One local copy: a value, or that the key does not exist, and how long it may be served.
#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/client/size_of.h"

namespace heatsink::client {

// The part of a copy that does not depend on its type. Immutable once readers can see it, except
// for the mark of claim_refresh().
class CachedValue {
 public:
  CachedValue() = default;
  virtual ~CachedValue() = default;
  CachedValue(const CachedValue&) = delete;
  CachedValue& operator=(const CachedValue&) = delete;

  std::size_t bytes = sizeof(CachedValue);  // memory in total
  bool missing = false;                     // the loader said that the key does not exist
  TimePoint loaded_at{};                    // when its load began
  TimePoint expires_at{};                   // served only before this
  TimePoint refresh_at{};                   // the first reader after this asks for a new copy

  // True for exactly one caller, which then asks for a new copy.
  bool claim_refresh() const noexcept {
    return !is_claimed_.load(std::memory_order_relaxed) &&
           !is_claimed_.exchange(true, std::memory_order_relaxed);
  }

 private:
  mutable std::atomic<bool> is_claimed_{false};
};

using SharedCachedValue = std::shared_ptr<const CachedValue>;

// Loads the value again; throws what the caller's loader throws.
using Load = std::function<std::shared_ptr<CachedValue>()>;

template <class V>
class CachedValueOf final : public CachedValue {
 public:
  explicit CachedValueOf(V v) : value(std::move(v)) {
    bytes = sizeof(CachedValueOf) - sizeof(V) + SizeOf<V>::bytes(value);
  }
  const V value;
};

// A cached for a key that does not exist; `missing` is set.
class MissingValue final : public CachedValue {
 public:
  MissingValue() { missing = true; }
};

}  // namespace heatsink::client
