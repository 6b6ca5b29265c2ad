// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/recorder.h"

#include <algorithm>
#include <array>

#include "heatsink/detect/key_table.h"
#include "heatsink/detect/slot_clock.h"

namespace heatsink::detect {
namespace {

struct Totals {
  std::uint64_t requests = 0;
  std::uint64_t writes = 0;
  std::uint64_t hits = 0;
  std::uint64_t bytes = 0;
};

}  // namespace

// The clock, what all keys together did by slot, and the keys.
struct Recorder::Table {
  explicit Table(const RecorderOptions& options)
      : clock(options.window, options.slots),
        keys(std::max(options.memory_bytes, kRecorderBytesMin) - sizeof(Table),
             options.urgent_count, options.seed),
        dimension(options.dimension) {}

  void advance(TimePoint now) {
    if (!clock.due(now)) return;
    const SlotClock::Move move = clock.move_to(now);
    const Position& at = clock.position();
    for (std::uint32_t i = 0, cell = at.slot; i < move.turns; ++i, cell = at.before(cell)) {
      totals[cell] = {};
    }
    current = &totals[at.slot];
    keys.move(move, at);
  }

  SlotClock clock;
  std::array<Totals, kSlotsMax> totals{};
  Totals* current = totals.data();
  KeyTable keys;
  Dimension dimension;
};

Recorder::Recorder(const RecorderOptions& options) : table_(std::make_unique<Table>(options)) {}

Recorder::~Recorder() = default;
Recorder::Recorder(Recorder&&) noexcept = default;

bool Recorder::record(const Access& access, TimePoint now) noexcept {
  table_->advance(now);
  Totals& totals = *table_->current;
  ++totals.requests;
  totals.writes += access.kind == AccessKind::kWrite ? 1 : 0;
  totals.hits += access.local_hit ? 1 : 0;
  totals.bytes += access.bytes;
  const std::uint32_t weight = weight_of(access, table_->dimension);
  return weight != 0 && table_->keys.record(access, weight);
}

bool Recorder::drain(TimePoint now) noexcept {
  table_->advance(now);
  return false;
}

Summary Recorder::summarize(TimePoint now, std::size_t keys_max, std::uint64_t floor) {
  table_->advance(now);
  Summary out;
  out.at = now;
  out.window = table_->clock.window();
  out.dimension = table_->dimension;
  out.covered = table_->clock.covered(now);
  out.settled = table_->clock.settled(now);
  for (const Totals& slot : table_->totals) {
    out.requests += slot.requests;
    out.writes += slot.writes;
    out.hits += slot.hits;
    out.bytes += slot.bytes;
  }
  out.reads = out.requests - out.writes;
  table_->keys.summarize(out, keys_max, floor);
  return out;
}

std::size_t Recorder::memory_bytes() const { return sizeof(Table) + table_->keys.memory_bytes(); }

std::size_t Recorder::keys_max() const { return table_->keys.keys_max(); }

}  // namespace heatsink::detect
