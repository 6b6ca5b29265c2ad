// SPDX-License-Identifier: Apache-2.0
#include "bench/policy/policies.h"

#include "bench/policy/earned.h"
#include "bench/policy/references.h"

namespace heatsink::bench {
namespace {

// A policy that does not know what a fill costs.
template <std::unique_ptr<CopyPolicy> (*kMake)(std::size_t keys, std::size_t copies)>
std::unique_ptr<CopyPolicy> without_cost(std::size_t keys, std::size_t copies, double) {
  return kMake(keys, copies);
}

// One row per line.
// clang-format off
constexpr PolicyRow kPolicies[] = {
    {"4th read", without_cost<make_fourth_read>, false},
    {"LRU", without_cost<make_lru>, false},
    {"S3-FIFO", without_cost<make_s3_fifo>, false},
    {"SIEVE", without_cost<make_sieve>, false},
    {"W-TinyLFU", without_cost<make_w_tinylfu>, false},
    {"heatsink", make_earned, true},
};
// clang-format on

}  // namespace

std::span<const PolicyRow> policies() { return kPolicies; }

}  // namespace heatsink::bench
