// SPDX-License-Identifier: Apache-2.0
// Keeps what was hot: each second of the last 10 minutes, and coarser steps for a week.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/heat/column.h"
#include "heatsink/heat/heat_map.h"
#include "heatsink/heat/identities.h"
#include "heatsink/heat/merger.h"
#include "heatsink/heat/moment.h"
#include "heatsink/heat/packed_column.h"
#include "heatsink/heat/sums.h"

namespace heatsink::heat {

// How long steps of which length are kept.
struct Tier {
  std::int64_t step_s;
  std::size_t columns_max;
};
inline constexpr std::array<Tier, 4> kTiers{
    {{1, 600}, {10, 4 * 360}, {60, 24 * 60}, {600, 7 * 144}}};

// Thread-safe: one thread adds, any thread reads. A reader holds the lock while it copies at most
// one tier (1440 columns, about 0.3 ms). Memory: a column has 7 bytes for each identity that it
// names. That is 4.1 MB where each has 64 keys, 32 templates and 16 clients, and 5.6 MB at most, in
// front of a cluster of 32 masters; beside it at most `identities_max` names of 256 bytes each. If
// there are more names, the ones that were never busy are forgotten: their rates go into the bound
// of what a column does not name.
class History {
 public:
  static constexpr std::size_t kIdentitiesMax = 8192;
  explicit History(std::size_t identities_max = kIdentitiesMax);

  // What was counted in the second before `moment.at`. A second moment of the same second is left
  // out. About 35 us for 160 items.
  void add(const Moment& moment);
  // `listener` gets each moment that was added, in the thread that adds it. Call it before add().
  using Listener = std::function<void(const Moment&)>;
  void listen(Listener listener) { listener_ = std::move(listener); }

  static constexpr std::size_t kStepsMax = 1440;
  static constexpr std::size_t kRowsMax = heat::kRowsMax;
  struct Range {
    TimePoint from{}, to{};
    // The length of a step, one of kTiers; nothing: the finest one that reaches back to `from` and
    // needs at most kStepsMax steps.
    std::optional<std::int64_t> step_s{};
    std::int64_t after = INT64_MIN;  // only steps with a higher number
    std::size_t rows_max = 128;      // of each kind; at most kRowsMax, as all of them together
  };
  HeatMap read(const Range& range) const;
  // The last moment that was added, with its bounds. Nothing: there is none yet.
  std::optional<Moment> latest() const;
  // What each key had in the range; `after` and `rows_max` are not looked at. Copies the names,
  // too: at most kIdentitiesMax.
  Sums sums(const Range& range) const;
  // The beginning of what is kept: of the oldest column, or of the first second. Nothing: there is
  // none yet.
  std::optional<TimePoint> begins() const;

  std::size_t memory_bytes() const;  // approximate

 private:
  // The columns of one step length: a ring of fixed size.
  struct Ring {
    std::vector<PackedColumn> columns;
    std::size_t next = 0;  // the oldest one, once it is full

    void push(const Column& column, std::size_t max);
    // REQUIRES a column.
    const PackedColumn& newest() const {
      return columns[(next + columns.size() - 1) % columns.size()];
    }
  };

  std::size_t tier_for(const Range& range) const;
  std::optional<IdentityId> number_of(const Identity& identity);
  void forget();
  Column without(Column column, const std::vector<bool>& leaves) const;
  Column column_of(const Moment& moment);
  void push(std::size_t tier, const Column& column);
  std::vector<Column> copy_of(std::size_t tier, const Range& range) const;

  Listener listener_;
  mutable std::mutex mutex_;  // guards the members below
  Nanos window_{};
  std::optional<Moment> latest_;
  std::int64_t first_ = 0;  // the number of the first second
  Identities identities_;
  std::size_t identities_max_;
  std::array<Ring, kTiers.size()> rings_;
  std::array<Merger, kTiers.size()> mergers_;  // of the columns that a tier's next one is made of
  std::array<std::int64_t, kTiers.size()> open_{};  // the number of that column
};

}  // namespace heatsink::heat
