// SPDX-License-Identifier: Apache-2.0
// What a server that lost writes does to a history: it counts as a write of what was there before.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "tests/consistency/recorder.h"
#include "tests/simulation/model_keys.h"
#include "tests/simulation/wall_clock.h"

namespace heatsink::simulation {

// A server that comes back with older data, or another one that takes over and lags, brings old
// values back. That is the server's doing, and to the clients of a proxy it is a write past the
// proxy: of a value that has been there before, which is told apart by a number of its own. So the
// promises hold across it, word for word: within the bound nobody reads what is lost, and who has
// read what came back does not read what is lost.
//
// One thread. Memory: one entry for each key and loss.
class Restorations {
 public:
  explicit Restorations(consistency::Recorder& recorder) : recorder_(recorder) {}

  // From `from` on nothing was executed with the old data; from `to` on there is the new data. The
  // keys that differ are recorded as written or removed in between.
  void note(const ModelDatabases& before, const ModelDatabases& after, const WallClock& clock,
            TimePoint from, TimePoint to);

  // The recorded history, in which reads of what came back have its new number. A read that may
  // have been answered before as well as after is left out.
  consistency::History told_apart() const;

 private:
  struct Return {
    TimePoint from, to;
    std::uint64_t value;  // its number since
  };
  using Known = std::pair<std::uint32_t, std::uint64_t>;  // the key, and the value as it is read

  consistency::Recorder& recorder_;
  std::map<Known, std::vector<Return>> returns_;  // each in the order of time
};

}  // namespace heatsink::simulation
