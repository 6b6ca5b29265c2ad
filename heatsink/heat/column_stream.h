// SPDX-License-Identifier: Apache-2.0
// Writes single columns for GET /api/stream: names once, and after that only their numbers.
#pragma once

#include <boost/json/object.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "heatsink/base/wall_time.h"
#include "heatsink/heat/history.h"
#include "heatsink/heat/identities.h"

namespace heatsink::heat {

// One thread. A column has less than 1.5 KB if it has no new names. Memory: kNamesMax names.
class ColumnStream {
 public:
  static constexpr std::size_t kNamesMax = 1024;
  // A name that no column had for so many columns is forgotten, and sent again when it is back.
  static constexpr std::int64_t kForgetAfter = 30;

  // A step of one second: {"number":86401, "time":..., "totals":{...}, "ids":"base64", ...}
  // (docs/reference/http-api.md). `begin`: of the step.
  boost::json::object column(const HeatMap& map, std::size_t step, WallTime begin);

  // All names that later columns may use without sending them.
  boost::json::array names() const;

 private:
  void forget(std::int64_t before);
  std::optional<IdentityId> number_of(const Identity& identity, std::int64_t column,
                                      boost::json::array& added);

  Identities identities_{kNamesMax};
  std::vector<std::int64_t> used_at_;  // by id: the last column that had it
};

}  // namespace heatsink::heat
