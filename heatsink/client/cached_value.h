// SPDX-License-Identifier: Apache-2.0
// One local copy: a value, or the fact that the key does not exist, and how long it may be served.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/client/size_of.h"

namespace heatsink::client {

// The part of a copy that does not depend on the type of the value. Immutable once readers can see
// it, except for the mark of claim_refresh().
class CachedValue {
 public:
  CachedValue() = default;
  virtual ~CachedValue() = default;
  CachedValue(const CachedValue&) = delete;
  CachedValue& operator=(const CachedValue&) = delete;

  std::size_t bytes = sizeof(CachedValue);  // of memory in total
  bool missing = false;                     // the source has no such key
  std::uint16_t server = 0;                 // whose proofs it needs (topology::ServerIndex)
  TimePoint loaded_at{};                    // when the load began
  TimePoint expires_at{};                   // must not be served from then on
  TimePoint refresh_at{};                   // the first reader from then on asks for a new copy

  // Returns true to exactly one caller, which then asks for a new copy.
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

// The copy of a key that does not exist; `missing` is set.
class MissingValue final : public CachedValue {
 public:
  MissingValue() { missing = true; }
};

}  // namespace heatsink::client
