// SPDX-License-Identifier: Apache-2.0
// Defines what a reader of the history gets: columns of time, and for each row a byte per column.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/heat/column.h"
#include "heatsink/heat/moment.h"
#include "heatsink/heat/scale.h"

namespace heatsink::heat {

// A part of the history, with all rows on one axis of time.
struct HeatMap {
  enum class Source : std::uint8_t { kMemory, kFile };
  Source source = Source::kMemory;  // the numbers of steps are of this source
  Nanos step{};
  Nanos window{};  // that each rate was counted over
  struct Step {
    TimePoint begin{};
    std::int64_t number = 0;    // rises; a gap: nothing was counted meanwhile
    std::uint32_t seconds = 0;  // that were counted in it
    PackedTotals totals{};
    float requests_max = 0;
    std::array<float, kKinds> unnamed_max{};
  };
  std::vector<Step> steps;  // by time
  // One byte for each of `steps`: rates by scale.h; `bytes` by bytes_code(). Where `mean` is 0 the
  // step does not name the row: it had at most unnamed_max.
  struct Row {
    Identity identity;
    std::vector<RateCode> mean{}, max{}, writes{}, hits{}, bytes{};
  };
  std::vector<Row> rows;  // the busiest first, by the sum of their means
};

inline constexpr std::size_t kRowsMax = 256;  // of a HeatMap

// The identities with the highest sums of means, the busiest first: at most `max` of each kind, and
// kRowsMax in all, of which no kind takes the rows of another. `identities`: each number in
// `columns` is below it. `only`: of this kind. O(cells).
using KindOf = std::function<Kind(IdentityId)>;
std::vector<IdentityId> busiest(std::span<const Column> columns, std::size_t identities,
                                const KindOf& kind_of, std::size_t max,
                                std::optional<Kind> only = std::nullopt);

// Adds the columns to `map`, whose rows are those of `order`, and whose step is set. REQUIRES a map
// without steps; `identities` as above. O(rows x columns + cells).
void add_columns(std::span<const Column> columns, std::span<const IdentityId> order,
                 std::size_t identities, HeatMap& map);

}  // namespace heatsink::heat
