// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/recorder.h"

#include <algorithm>
#include <array>

#include "heatsink/detect/key_table.h"
#include "heatsink/detect/slot_clock.h"
#include "heatsink/detect/template_counter.h"

namespace heatsink::detect {

Recorder::Totals& Recorder::Totals::operator+=(const Totals& other) {
  requests += other.requests;
  writes += other.writes;
  hits += other.hits;
  bytes += other.bytes;
  return *this;
}

// The clock, the totals of all keys by slot, and the keys.
struct Recorder::Table {
  explicit Table(const RecorderOptions& options)
      : clock(options.window, options.slots),
        dimension(options.dimension),
        keys({.memory_bytes = std::max(options.memory_bytes, kRecorderBytesMin) - sizeof(Table) -
                              sizeof(Recorder) - (options.has_distinct ? sizeof(DistinctKeys) : 0),
              .urgent_count = options.urgent_count,
              .worth_tracking = options.worth_tracking,
              .lossless_per_second = options.lossless_per_second,
              .seed = options.seed,
              .dimension = options.dimension,
              .names = options.names,
              .has_distinct = options.has_distinct}),
        templates(options.template_bytes == 0
                      ? nullptr
                      : std::make_unique<TemplateCounter>(options.template_bytes, options.seed)) {}

  void add(std::uint32_t requests, AccessLog::Amount amount) {
    *current += {requests, amount.writes(), amount.hits(), amount.bytes()};
  }

  // Sets the totals of the window.
  void set_totals(Summary& out) const noexcept {
    Totals all;
    for (const Totals& slot : totals) all += slot;
    out.requests = all.requests;
    out.reads = all.requests - all.writes;
    out.writes = all.writes;
    out.hits = all.hits;
    out.bytes = all.bytes;
  }

  void turn(TimePoint now) noexcept {
    past += *current;
    const SlotClock::Move move = clock.move_to(now);
    const Position& at = clock.position();
    for (std::uint32_t i = 0, cell = at.slot; i < move.turns; ++i, cell = at.before(cell)) {
      totals[cell] = {};
    }
    current = &totals[at.slot];
    Summary window;
    window.dimension = dimension;
    set_totals(window);
    keys.move(move, at, window.total());
    if (templates != nullptr) templates->move(move, at);
  }

  SlotClock clock;
  std::array<Totals, kSlotsMax> totals{};
  Totals* current = totals.data();
  Totals past;  // of all earlier slots
  Dimension dimension;
  KeyTable keys;
  std::unique_ptr<TemplateCounter> templates;  // null: not asked for
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
  table_->add(1, entry.amount);
  if (table_->templates != nullptr) table_->templates->count(entry, access.key);
  return table_->keys.count(entry, access.key) || urgent;
}

bool Recorder::count(AccessLog& log) noexcept {
  const std::uint32_t requests = log.size();
  if (table_->templates != nullptr) table_->templates->count(log);
  AccessLog::Amount sum;
  const bool urgent = table_->keys.drain(log, sum);
  table_->add(requests, sum);
  return urgent;
}

bool Recorder::take(AccessLog& log, TimePoint now) noexcept {
  const bool urgent = now >= due_ && advance(now);
  return count(log) || urgent;
}

// Waiting entries must be counted before the time moves: they belong to the slot, and to the
// sample, in which they were seen.
bool Recorder::advance(TimePoint now) noexcept {
  const bool urgent = drain_log();
  Table& table = *table_;
  if (now >= table.keys.sampling_due())
    table.keys.move_sampling(now, table.past.requests + table.current->requests);
  if (table.clock.due(now)) table.turn(now);
  due_ = std::min(table.clock.next(), table.keys.sampling_due());
  return urgent;
}

bool Recorder::drain(TimePoint now) noexcept { return now >= due_ ? advance(now) : drain_log(); }

Summary Recorder::summarize(TimePoint now, std::size_t keys_max, CountLevel floor) {
  drain(now);
  Summary out;
  out.at = now;
  out.window = table_->clock.window();
  out.dimension = table_->dimension;
  out.covered = table_->clock.covered(now);
  out.covers_window = table_->clock.covers_window(now);
  table_->set_totals(out);
  table_->keys.summarize(out, keys_max, floor);
  if (table_->templates != nullptr) out.templates = table_->templates->summarize(out);
  return out;
}

Recorder::Totals Recorder::totals() const {
  Totals all = table_->past;
  return all += *table_->current;
}

DistinctSketch Recorder::distinct(TimePoint now) noexcept {
  drain(now);
  return table_->keys.distinct();
}

void Recorder::set_levels(CountLevel urgent_count, CountLevel worth_tracking) noexcept {
  table_->keys.set_levels(urgent_count, worth_tracking);
}

std::size_t Recorder::memory_bytes() const {
  const TemplateCounter* const templates = table_->templates.get();
  return sizeof(Recorder) + sizeof(Table) + table_->keys.memory_bytes() +
         (templates == nullptr ? 0 : sizeof(TemplateCounter) + templates->memory_bytes());
}

std::size_t Recorder::keys_max() const { return table_->keys.keys_max(); }

}  // namespace heatsink::detect
