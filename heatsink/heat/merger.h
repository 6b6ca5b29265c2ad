// SPDX-License-Identifier: Apache-2.0
// Makes one column of several shorter ones.
#pragma once

#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <functional>
#include <tuple>

#include "heatsink/heat/column.h"

namespace heatsink::heat {

// Not thread-safe. A cycle is: add()+ close(). Means are weighted by the seconds of the columns, a
// maximum stays a maximum, and what does not fit raises the bound of what is not named.
class Merger {
 public:
  void add(const Column& column);
  bool is_empty() const { return seconds_ == 0; }
  // The number becomes that of another identity. What it had raises the bound.
  void forget(IdentityId id, Kind kind);
  // The column with this number, of all columns added since the last call; the busiest of each kind
  // are named. `kind` of an identity. REQUIRES add(). O(n log n) in the identities.
  Column close(std::int64_t number, const std::function<Kind(IdentityId)>& kind);

 private:
  struct Sum {
    double mean = 0, writes = 0, hits = 0, bytes = 0;  // times seconds
    RateCode max = 0;
  };

  void name_busiest(Column& column, const std::function<Kind(IdentityId)>& kind) const;

  std::uint32_t seconds_ = 0;
  std::array<double, std::tuple_size_v<PackedTotals>> totals_{};
  std::array<double, std::tuple_size_v<PackedTotals>>
      known_seconds_{};  // a total that is not known has no weight
  float requests_max_ = 0;
  std::array<float, kKinds> unnamed_max_{};
  std::array<double, kKinds> forgotten_max_{};  // Sum::mean
  boost::unordered_flat_map<IdentityId, Sum> sums_;
};

}  // namespace heatsink::heat
