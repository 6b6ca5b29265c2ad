// SPDX-License-Identifier: Apache-2.0
// The policies that the bench plays request by request, one row each.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

#include "bench/policy/copy_policy.h"

namespace heatsink::bench {

struct PolicyRow {
  std::string_view name;  // a column of bench/policy.py
  // Key hashes are those of replay::hash_of_key(): numbers 0 .. keys - 1. `copies`: the most copies
  // at once, at least 10. `fill_cost`: of one fill, in reads that a copy answers.
  std::unique_ptr<CopyPolicy> (*make)(std::size_t keys, std::size_t copies, double fill_cost);
  // False: make() does not look at fill_cost, and one run serves all costs.
  bool knows_fill_cost;
};

// Another policy is a row here and a column of bench/policy.py.
std::span<const PolicyRow> policies();

}  // namespace heatsink::bench
