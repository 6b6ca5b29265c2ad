// SPDX-License-Identifier: Apache-2.0
// Two of limit/'s algorithms as functions on the server: one key, one call, the server's time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/distributed/function_call.h"
#include "heatsink/limit/limit.h"
#include "heatsink/resp/value.h"

namespace heatsink::distributed {

// The same semantics as limit/token_bucket.h and limit/sliding_window.h, in whole microseconds:
// * token bucket: 16 bytes, a time and how full the bucket was then. In any time T at most
//   burst + T x rate pass. The key ends when the bucket would be empty.
// * sliding window: 16 bytes and 4 for each slot and one more: in any time as long as the window at
//   most the count passes. The key ends a second after the last slot has left the window.
// A server's time that is set back by less than a second counts as standing still; by more, the
// bucket goes on from there with nothing new free, and the window begins anew. A refusal writes
// nothing. What is kept under a key of another algorithm's is an error (each has names of its own);
// another number of slots begins anew.
//
// `clock`: Lua with `local function now_us()`, in microseconds.
FunctionLibrary limit_library(std::string_view clock);
const FunctionLibrary& limit_library();  // by the server's TIME

struct LimitQuestion {
  std::uint64_t n = 1;     // all or none
  std::uint64_t want = 1;  // and up to so many, if there are; REQUIRES want >= n
};
struct LimitAnswer {
  std::uint64_t granted = 0;    // 0, or n to want
  std::uint64_t remaining = 0;  // after that
  Nanos retry_after{0};         // refused: when n would be granted, if nobody else came
};

// REQUIRES options that check_distributed() takes.
FunctionCall limit_call(const FunctionLibrary& library, const limit::LimiterOptions& options,
                        std::string key, const LimitQuestion& question);
Result<LimitAnswer> limit_answer(const resp::Value& reply);

// How many there are at most at one moment: the burst, or the count of the window.
std::uint64_t capacity_of(const limit::LimiterOptions& options);

// Error: one of the two that are none of the server's, or what limit::make_limiter() refuses.
Status check_distributed(const limit::LimiterOptions& options);

}  // namespace heatsink::distributed
