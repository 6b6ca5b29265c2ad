// SPDX-License-Identifier: Apache-2.0
// Limits each hot key to one load at a time; the other callers wait for it, up to a time limit.
#pragma once

#include <cstddef>
#include <exception>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/client/box.h"
#include "heatsink/client/runtime.h"

namespace heatsink::client {

// A load under way. Whoever holds one may look at sent_at; its leader sets value_ends before it
// lands, and who has waited may look at it then, and at box and error. The rest is Flights'.
struct Flight {
  explicit Flight(TimePoint at) : sent_at(at) {}
  const TimePoint sent_at;
  TimePoint value_ends = TimePoint::max();  // by its own TTL, at the earliest

  std::unique_ptr<Condition> has_landed;  // null: nobody has waited yet
  bool is_over = false;
  SharedBox box;
  std::exception_ptr error;
  std::size_t waiters = 0;
};

// Any thread. Nothing is called back under the lock.
class Flights {
 public:
  explicit Flights(std::size_t waiters_max, Runtime& runtime = system_runtime())
      : waiters_max_(waiters_max), runtime_(runtime) {}

  enum class Role { kLeads, kWaits, kRefused };
  struct Seat {
    Role role;
    std::shared_ptr<Flight> flight;  // null: refused, for waiters_max wait already
  };

  // The leader loads, and must land() whatever happens. A flight sent at or before `not_before` may
  // bring what is known to be old, so nobody joins it any more: the next in line leads another.
  Seat board(KeyHash hash, TimePoint now, TimePoint not_before);
  // The same for a load that nobody waits for yet: null if there is one that board() would join.
  std::shared_ptr<Flight> lead(KeyHash hash, TimePoint now, TimePoint not_before);

  // Hands box or error to all who wait.
  void land(KeyHash hash, const std::shared_ptr<Flight>& flight, SharedBox box,
            std::exception_ptr error);

  // REQUIRES Role::kWaits. False: it has not landed in time.
  bool wait(Flight& flight, Nanos at_most);

 private:
  struct HashOfHash {
    std::size_t operator()(KeyHash hash) const { return hash.value; }
  };

  // Under mutex_. Null: `latest` can be joined.
  static std::shared_ptr<Flight> take_off(std::shared_ptr<Flight>& latest, TimePoint now,
                                          TimePoint not_before);

  const std::size_t waiters_max_;
  Runtime& runtime_;
  std::mutex mutex_;
  std::unordered_map<KeyHash, std::shared_ptr<Flight>, HashOfHash> under_way_;
};

}  // namespace heatsink::client
