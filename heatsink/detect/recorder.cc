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

  void add(std::uint32_t accesses, AccessLog::Amount amount) {
    requests += accesses;
    writes += amount.writes();
    hits += amount.hits();
    bytes += amount.bytes();
  }
};

}  // namespace

// The clock, what all keys together did by slot, and the keys.
struct Recorder::Table {
  explicit Table(const RecorderOptions& options)
      : clock(options.window, options.slots),
        dimension(options.dimension),
        keys({.memory_bytes = std::max(options.memory_bytes, kRecorderBytesMin) - sizeof(Table) -
                              sizeof(Recorder),
              .urgent_count = options.urgent_count,
              .worth_tracking = options.worth_tracking,
              .lossless_per_second = options.lossless_per_second,
              .seed = options.seed,
              .dimension = options.dimension,
              .names = options.names}) {}

  void turn(TimePoint now) noexcept {
    past += current->requests;
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
  std::uint64_t past = 0;  // accesses of all slots but the current one
  Dimension dimension;
  KeyTable keys;
};

Recorder::Recorder(const RecorderOptions& options) : table_(std::make_unique<Table>(options)) {}

Recorder::~Recorder() = default;
Recorder::Recorder(Recorder&&) noexcept = default;

bool Recorder::record_now(const Access& access, TimePoint now) noexcept {
  bool urgent = now >= due_ && advance(now);
  if (AccessLog::fits(access)) {
    log_.push(access);
    return (log_.full() && drain_log()) || urgent;
  }
  const AccessLog::Entry entry = AccessLog::entry_of(access);
  table_->current->add(1, entry.amount);
  return table_->keys.count(entry, access.key) || urgent;
}

bool Recorder::count(AccessLog& log) noexcept {
  const std::uint32_t requests = log.size();
  AccessLog::Amount sum;
  const bool urgent = table_->keys.drain(log, sum);
  table_->current->add(requests, sum);
  return urgent;
}

bool Recorder::take(AccessLog& log, TimePoint now) noexcept {
  const bool urgent = now >= due_ && advance(now);
  return count(log) || urgent;
}

// What waits in the log belongs to the slot, and to the sample, in which it was seen.
bool Recorder::advance(TimePoint now) noexcept {
  const bool urgent = drain_log();
  Table& table = *table_;
  if (now >= table.keys.sampling_due())
    table.keys.move_sampling(now, table.past + table.current->requests);
  if (table.clock.due(now)) table.turn(now);
  due_ = std::min(table.clock.next(), table.keys.sampling_due());
  return urgent;
}

bool Recorder::drain(TimePoint now) noexcept { return now >= due_ ? advance(now) : drain_log(); }

Summary Recorder::summarize(TimePoint now, std::size_t keys_max, std::uint64_t floor) {
  drain(now);
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

std::size_t Recorder::memory_bytes() const {
  return sizeof(Recorder) + sizeof(Table) + table_->keys.memory_bytes();
}

std::size_t Recorder::keys_max() const { return table_->keys.keys_max(); }

}  // namespace heatsink::detect
