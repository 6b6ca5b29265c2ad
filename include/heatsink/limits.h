// SPDX-License-Identifier: Apache-2.0
// What a C++ application includes to limit what it does: by itself (make_limiter), or together with
// all other processes, through Redis (RateLimiter).
#pragma once

#include "heatsink/distributed/rate_limiter.h"          // IWYU pragma: export
#include "heatsink/distributed/rate_limiter_metrics.h"  // IWYU pragma: export
#include "heatsink/limit/limit.h"                       // IWYU pragma: export

namespace heatsink {

using limit::Algorithm;
using limit::Decision;
using limit::kNever;
using limit::Limiter;
using limit::LimiterOptions;
using limit::make_limiter;
using limit::parse_rate;
using limit::Rate;

using distributed::Basis;
using distributed::metrics_text;
using distributed::OnFailure;
using distributed::RateLimiter;
using distributed::RateLimiterCounts;
using distributed::RateLimiterOptions;
using distributed::Server;
using distributed::ServerOptions;
using distributed::Verdict;

}  // namespace heatsink
