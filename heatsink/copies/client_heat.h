// SPDX-License-Identifier: Apache-2.0
// Adds the busiest clients to a moment of the history.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/copies/client_commands.h"
#include "heatsink/heat/moment.h"

namespace heatsink::copies {

// Rates are over the window, or over up to a second or a tenth of the window more. One thread,
// except where a comment says otherwise; no clock. Memory: at most 48 bytes for each address that
// was ever counted, by the thousand.
class ClientHeat {
 public:
  // The address of a client; called for the busiest ones only.
  using Name = std::function<std::string(std::uint32_t client)>;

  // Call it about once a second. Adds nothing before the second call. O(highest number).
  void add_to(heat::Moment& moment, std::span<const ClientCommands* const> workers,
              const Name& name, Nanos window, TimePoint now);
  // Any thread: of the samples, about.
  std::size_t memory_bytes() const { return bytes_.load(std::memory_order_relaxed); }

 private:
  static constexpr int kSamplesPerWindow = 10;
  struct Sample {
    TimePoint at;
    std::vector<std::uint32_t> counts;  // by client
  };

  void note(std::vector<std::uint32_t> counts, Nanos window, TimePoint now);

  std::deque<Sample> samples_;  // add_to() makes the first one the last that is a window old
  std::atomic<std::size_t> bytes_{0};
};

}  // namespace heatsink::copies
