// SPDX-License-Identifier: Apache-2.0
// Knows the numeric address of an instance that was given by its name.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/net.h"

namespace heatsink::app {

// One thread asks. A name is looked up on a thread of its own, so that a name server that is silent
// holds up nobody; the last answer stays until there is another one.
class NumericAddress {
 public:
  static constexpr Nanos kLooksEvery = std::chrono::seconds(30);

  explicit NumericAddress(net::HostPort address);

  // Never waits. Error: the name is not found, or not yet.
  Result<net::HostPort> at(TimePoint now);
  // That one did not answer: a name may have several.
  void try_another() { ++tried_; }

 private:
  struct Shared;
  void look_up();

  const net::HostPort address_;
  std::optional<TimePoint> looked_at_;
  std::size_t tried_ = 0;
  std::shared_ptr<Shared> shared_;  // null: the address is numeric
};

}  // namespace heatsink::app
