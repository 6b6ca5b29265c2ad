// SPDX-License-Identifier: Apache-2.0
// The part of heatsink.h about limits of this process alone.
#include <memory>

#include "bindings/c/handles.h"
#include "bindings/c/limit_values.h"

using heatsink::capi::duration_of_ms;
using heatsink::capi::give;
using heatsink::capi::given;
using heatsink::capi::guarded;
using heatsink::capi::known_of;
using heatsink::capi::limiter_options;
using heatsink::capi::missing_argument;
using heatsink::capi::us_of;

struct heatsink_local_limiter {
  std::unique_ptr<heatsink::limit::Limiter> limiter;
};

int heatsink_local_limiter_new(const heatsink_local_limit* limit, size_t size,
                               heatsink_local_limiter** limiter) {
  if (limit == nullptr || limiter == nullptr) return missing_argument();
  *limiter = nullptr;
  return guarded([&] {
    const heatsink_local_limit known = known_of(limit, size);
    heatsink::limit::LimiterOptions options = limiter_options(known);
    options.patience = duration_of_ms(known.patience_ms);
    *limiter = new heatsink_local_limiter{given(heatsink::limit::make_limiter(options))};
    return HEATSINK_OK;
  });
}

void heatsink_local_limiter_free(heatsink_local_limiter* limiter) { delete limiter; }

int heatsink_local_limiter_try(heatsink_local_limiter* limiter, uint64_t n,
                               heatsink_decision* decision, size_t size) {
  if (limiter == nullptr || decision == nullptr) return missing_argument();
  const heatsink::limit::Decision now =
      limiter->limiter->try_acquire(n, heatsink::BootClock::now());
  const heatsink_decision values = {.allowed = now.allowed ? 1 : 0,
                                    .wait_us = us_of(now.wait),
                                    .retry_after_us = us_of(now.retry_after),
                                    .remaining = now.remaining};
  return give(values, decision, size);
}
