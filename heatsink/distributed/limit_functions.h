// SPDX-License-Identifier: Apache-2.0
// Provides two of limit/'s algorithms as functions on the server: one key, one call, the server's
// time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/distributed/function_library.h"
#include "heatsink/limit/limit.h"
#include "heatsink/resp/value.h"

namespace heatsink::distributed {

// Same semantics as limit/buckets.h and limit/windows.h, in whole microseconds:
// * token bucket: 16 bytes, a time and the bucket's level then. In any time T at most
//   burst + T x rate pass. The key expires when the bucket would be empty.
// * sliding window: 16 bytes, and 4 for each slot and one more. In any time as long as the window
//   at most the count passes. The key expires a second after its last slot has left the window.
// If the server's clock is set back by less than a second, time stands still. If it is set back
// further, the bucket continues from there with nothing new free, and the window starts again. A
// refusal writes nothing. A value of another algorithm under the key is an error (each algorithm
// has its own key names). Another number of slots starts the window again.
//
// `clock`: Lua with `local function now_us()`, in microseconds.
FunctionLibrary limit_library(std::string_view clock);
const FunctionLibrary& limit_library();  // by the server's TIME

struct LimitQuestion {
  std::uint64_t n = 1;     // all or none
  std::uint64_t want = 1;  // grants up to this many if available; REQUIRES want >= n
};
struct LimitAnswer {
  std::uint64_t granted = 0;    // 0, or n to want
  std::uint64_t remaining = 0;  // afterwards
  Nanos retry_after{0};         // refused: when n would be granted if no other call came
};

// REQUIRES options that check_distributed() accepts.
FunctionCall limit_call(const FunctionLibrary& library, const limit::LimiterOptions& options,
                        std::string key, const LimitQuestion& question);
Result<LimitAnswer> limit_answer(const resp::Value& reply);

// The most that can pass at one moment: the burst, or the count of the window.
std::uint64_t capacity_of(const limit::LimiterOptions& options);

// An error if the algorithm is not available on the server, or if limit::make_limiter() refuses the
// options.
Status check_distributed(const limit::LimiterOptions& options);

}  // namespace heatsink::distributed
