// SPDX-License-Identifier: Apache-2.0
// The part of heatsink.h about limits across processes.
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "bindings/c/handles.h"
#include "bindings/c/limit_values.h"
#include "heatsink/client/server_options.h"
#include "heatsink/distributed/distributed.h"

using heatsink::BootClock;
using heatsink::capi::duration_of_ms;
using heatsink::capi::fail;
using heatsink::capi::give;
using heatsink::capi::given;
using heatsink::capi::guarded;
using heatsink::capi::has_key;
using heatsink::capi::key_of;
using heatsink::capi::known_of;
using heatsink::capi::limiter_options;
using heatsink::capi::missing_argument;
using heatsink::capi::us_of;
using heatsink::distributed::OnFailure;
using heatsink::distributed::RateLimiter;
using heatsink::distributed::RateLimiterOptions;
using heatsink::distributed::Server;
using heatsink::distributed::Verdict;

struct heatsink_limiter {
  std::unique_ptr<RateLimiter> limiter;
  heatsink::Nanos patience;
};

namespace {

RateLimiterOptions options_of(const heatsink_limit& limit) {
  RateLimiterOptions options;
  if (limit.name != nullptr) options.name = limit.name;
  options.limit = limiter_options(limit);
  if (limit.refuses_on_failure != 0) options.on_failure = OnFailure::kRefuse;
  options.lease_share = limit.lease_share;
  if (limit.lease_lasts_ms != 0) options.lease_lasts = duration_of_ms(limit.lease_lasts_ms);
  if (limit.patience_ms != 0) options.patience = duration_of_ms(limit.patience_ms);
  return options;
}

heatsink_verdict values_of(const Verdict& verdict) {
  return {.allowed = verdict.allowed ? 1 : 0,
          .basis = static_cast<int>(verdict.basis),
          .retry_after_us = us_of(verdict.retry_after),
          .remaining = verdict.remaining};
}

// Most functions: a limiter and a key.
template <class Call>
int with_key(heatsink_limiter* limiter, const char* key, size_t key_size, Call call) {
  if (limiter == nullptr || !has_key(key, key_size)) return missing_argument();
  return guarded([&] { return call(limiter->limiter->at(key_of(key, key_size))); });
}

}  // namespace

int heatsink_limiter_open(const heatsink_options* options, const heatsink_limit* limit, size_t size,
                          heatsink_limiter** limiter) {
  if (options == nullptr || limit == nullptr || limiter == nullptr) return missing_argument();
  *limiter = nullptr;
  return guarded([&] {
    const RateLimiterOptions wanted = options_of(known_of(limit, size));
    std::shared_ptr<Server> server =
        given(Server::open(heatsink::client::server_options(options->values, "heatsink-limits")));
    *limiter =
        new heatsink_limiter{given(RateLimiter::make(std::move(server), wanted)), wanted.patience};
    return HEATSINK_OK;
  });
}

void heatsink_limiter_free(heatsink_limiter* limiter) { delete limiter; }

int heatsink_limiter_try(heatsink_limiter* limiter, const char* key, size_t key_size, uint64_t n,
                         heatsink_verdict* verdict, size_t size) {
  if (verdict == nullptr) return missing_argument();
  return with_key(limiter, key, key_size, [=](const RateLimiter::Handle& handle) {
    return give(values_of(handle.try_acquire(n)), verdict, size);
  });
}

int heatsink_limiter_wait(heatsink_limiter* limiter, const char* key, size_t key_size, uint64_t n,
                          uint64_t wait_ms, heatsink_verdict* verdict, size_t size) {
  if (verdict == nullptr) return missing_argument();
  return with_key(limiter, key, key_size, [=](const RateLimiter::Handle& handle) {
    return give(values_of(handle.acquire(n, BootClock::now() + duration_of_ms(wait_ms))), verdict,
                size);
  });
}

int heatsink_limiter_ask(heatsink_limiter* limiter, const char* key, size_t key_size, uint64_t n,
                         void (*done)(void* user, const heatsink_verdict* verdict, size_t size),
                         void* user) {
  if (done == nullptr) return missing_argument();
  return with_key(limiter, key, key_size, [=](const RateLimiter::Handle& handle) {
    handle.try_acquire(n, BootClock::now() + limiter->patience, [=](const Verdict& verdict) {
      const heatsink_verdict values = values_of(verdict);
      done(user, &values, sizeof(values));
    });
    return HEATSINK_OK;
  });
}

int heatsink_limiter_problem(heatsink_limiter* limiter) {
  if (limiter == nullptr) return missing_argument();
  return guarded([&]() -> int {
    const std::string problem = limiter->limiter->problem();
    return problem.empty() ? int{HEATSINK_OK} : fail(HEATSINK_FAILED, problem);
  });
}

int heatsink_limiter_counts(heatsink_limiter* limiter, heatsink_limiter_counts_values* counts,
                            size_t size) {
  if (limiter == nullptr || counts == nullptr) return missing_argument();
  return guarded([&] {
    const heatsink::distributed::RateLimiterCounts now = limiter->limiter->counts();
    const heatsink_limiter_counts_values values = {.asked = now.asked,
                                                   .allowed = now.allowed,
                                                   .refused = now.refused,
                                                   .by_lease = now.by_lease,
                                                   .by_denial = now.by_denial,
                                                   .failures = now.failures,
                                                   .leased_tokens = now.leased_tokens,
                                                   .lapsed_tokens = now.lapsed_tokens};
    return give(values, counts, size);
  });
}
