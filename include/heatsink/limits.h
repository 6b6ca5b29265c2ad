// SPDX-License-Identifier: Apache-2.0
// Include this to limit how often something happens: in this process (make_limiter), or in all
// processes together through a Redis or Valkey server (RateLimiter). Guides: docs/guides/limits.md,
// docs/guides/limits.md.
//
//   const auto rate = heatsink::parse_rate("100/s").value();
//   const auto limiter = heatsink::make_limiter({.rate = rate, .burst = 20}).value();
//   if (!limiter->try_acquire(1, heatsink::BootClock::now()).allowed) refuse();
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
