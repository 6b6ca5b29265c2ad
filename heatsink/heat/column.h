// SPDX-License-Identifier: Apache-2.0
// Holds what a node counted in one step of time, in a fixed number of bytes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <numeric>
#include <span>

#include "heatsink/base/clock.h"
#include "heatsink/heat/moment.h"
#include "heatsink/heat/scale.h"

namespace heatsink::heat {

// The number of an identity in Identities.
using IdentityId = std::uint16_t;

// In the order of Totals.
using PackedTotals = std::array<float, 13>;
inline constexpr std::size_t kRequestsAt = 0, kHitsAt = 3, kNodeCommandsAt = 8, kBytesAt = 9,
                             kServerCpuAt = 10, kServerCpuSparedAt = 11, kClientCommandsAt = 12;
// Where the total is that the rows of a kind add up to.
constexpr std::size_t total_of(Kind kind) {
  if (kind == Kind::kSlot || kind == Kind::kNode) return kNodeCommandsAt;
  return kind == Kind::kClient ? kClientCommandsAt : kRequestsAt;
}

// One identity in one step. Its rate is at least `mean` (never 0), and at most that plus the
// column's unnamed_max where `mean` is of several seconds that did not all name it.
struct Cell {
  IdentityId id = 0;
  RateCode mean = 0, max = 0;  // of the rate of each second in the step
  RateCode writes = 0, hits = 0;
  RateCode bytes = 0;  // by bytes_code()
};

// A plain value of about 1400 bytes; PackedColumn holds the same in fewer. Means are weighted by
// time; seconds that nothing was counted in (the process rested, or did not run) have no weight.
struct Column {
  static constexpr std::size_t kCellsMax =
      std::accumulate(std::begin(kPerMoment), std::end(kPerMoment), std::size_t{0});

  std::int64_t number = 0;    // its step since the machine started: begin() / step
  std::uint32_t seconds = 0;  // that were counted in the step; at least 1
  PackedTotals totals{};      // means, in the order of Totals; NaN: not known
  float requests_max = 0;     // of the seconds
  // The highest possible mean rate of each kind that the column does not name; NaN: not known.
  std::array<float, kKinds> unnamed_max{};
  std::uint8_t size = 0;
  std::array<Cell, kCellsMax> all{};

  std::span<Cell> cells() { return {all.data(), size}; }
  std::span<const Cell> cells() const { return {all.data(), size}; }
};

inline PackedTotals packed(const Totals& totals) {
  const auto small = [](double value) { return static_cast<float>(value); };
  return {small(totals.requests),       small(totals.reads),       small(totals.writes),
          small(totals.hits),           small(totals.commands),    small(totals.server_commands),
          small(totals.latency_p50),    small(totals.latency_p99), small(totals.node_commands),
          small(totals.bytes),          small(totals.server_cpu),  small(totals.server_cpu_spared),
          small(totals.client_commands)};
}

}  // namespace heatsink::heat
