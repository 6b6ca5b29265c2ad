// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/sums.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace heatsink::heat {
namespace {

constexpr std::size_t kNoSum = std::numeric_limits<std::size_t>::max();

// The place of each identity in Sums::keys.
class Places {
 public:
  Places(const IdentityOf& identity_of, Sums& sums) : identity_of_(identity_of), sums_(sums) {}

  // Null: it is no key.
  KeySum* sum_of(IdentityId id) {
    if (places_.size() <= id) places_.resize(std::size_t{id} + 1, kNoSum);
    std::size_t& place = places_[id];
    if (place == kNoSum) {
      const Identity* const identity = identity_of_(id);
      if (identity == nullptr) return nullptr;
      place = sums_.keys.size();
      sums_.keys.push_back({.identity = *identity});
    }
    return &sums_.keys[place];
  }

 private:
  const IdentityOf& identity_of_;
  Sums& sums_;
  std::vector<std::size_t> places_;
};

// What rates a code may stand for after `encodings`. Each one rounds by kScaleError at most; or it
// makes 1/s of what is less, which says nothing of how much less. In a column of finer ones that is
// in the mean: at most 1/s of it is not true.
class Bounds {
 public:
  explicit Bounds(std::size_t encodings)
      : error_(std::pow(1 + kScaleError, static_cast<double>(encodings))),
        untrue_(encodings > 1 ? 1 : 0) {}

  double low(RateCode code) const {
    return code <= 1 ? 0 : std::max(0.0, rate_of(code) / error_ - untrue_);
  }
  // Of the last code there is none.
  double high(RateCode code) const {
    constexpr RateCode kLast = std::numeric_limits<RateCode>::max();
    return code == kLast ? std::numeric_limits<double>::infinity() : rate_of(code) * error_;
  }

 private:
  double error_, untrue_;
};

}  // namespace

Sums sums_of(std::span<const Column> columns, Nanos step, std::size_t encodings,
             const IdentityOf& identity_of) {
  Sums out{.step = step};
  Places places(identity_of, out);
  const Bounds bounds(encodings);
  for (const Column& column : columns) {
    const double seconds = column.seconds;
    const double requests = column.totals[0];
    const double unnamed = column.unnamed_max[static_cast<std::size_t>(Kind::kKey)];
    if (!std::isnan(requests)) out.requests += requests * seconds;
    // One key has no more than all have.
    out.unnamed += (std::isnan(unnamed) ? requests : unnamed) * seconds;
    out.seconds += seconds;
    for (const Cell& cell : column.cells()) {
      KeySum* const sum = places.sum_of(cell.id);
      if (sum == nullptr) continue;
      sum->requests += rate_of(cell.mean) * seconds;
      sum->low += bounds.low(cell.mean) * seconds;
      sum->high += bounds.high(cell.mean) * seconds;
      sum->writes += rate_of(cell.writes) * seconds;
      sum->hits += rate_of(cell.hits) * seconds;
      sum->peak = std::max(sum->peak, rate_of(cell.max));
    }
  }
  if (!columns.empty()) {
    out.from = TimePoint(step * columns.front().number);
    out.to = TimePoint(step * (columns.back().number + 1));
  }
  std::ranges::stable_sort(out.keys, std::greater<>(), &KeySum::requests);
  return out;
}

}  // namespace heatsink::heat
