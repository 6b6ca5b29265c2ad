// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/rate_limiter_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <future>
#include <utility>

namespace heatsink::distributed {
namespace {

PrepaidLimits prepaid_limits_of(const RateLimiterOptions& options) {
  if (options.lease_share <= 0) return {.held_max = 0, .lasts = options.lease_lasts};
  const double share = options.lease_share * static_cast<double>(capacity_of(options.limit));
  const double most = std::min(std::floor(share), static_cast<double>(PrepaidTokens::kHeldMax));
  return {.held_max = static_cast<std::uint64_t>(std::max(most, 1.0)),
          .lasts = options.lease_lasts};
}

// A bucket that is empty most of the time goes to the first caller, so a process that buys batches
// waits until a batch has collected. The bucket keeps it meanwhile (a quarter of the burst at
// most), so nothing is lost. A window keeps nothing: a late buyer gets less.
Nanos pause_of(const RateLimiterOptions& options) {
  if (options.lease_share <= 0 || options.limit.algorithm != limit::Algorithm::kTokenBucket)
    return Nanos(0);
  const double fill_s =
      static_cast<double>(capacity_of(options.limit)) / options.limit.rate.per_second();
  const double quarter_ns = std::min(fill_s / 4, 3600.0) * 1e9;
  return std::min(options.lease_lasts / 2, Nanos(static_cast<Nanos::rep>(quarter_ns)));
}

}  // namespace

RateLimiter::Core::Core(Server& server, const RateLimiterOptions& options)
    : server_(server),
      options_(options),
      prefix_(fmt::format("heatsink:limit:{}:{}:", limit::to_string(options.limit.algorithm),
                          options.name)),
      capacity_(capacity_of(options.limit)),
      prepaid_limits_(prepaid_limits_of(options)),
      pause_(pause_of(options)),
      states_(options.keys_max) {}

std::optional<Verdict> RateLimiter::Core::answer_here(const std::shared_ptr<LimitState>& state,
                                                      std::uint64_t n, TimePoint now) {
  if (n > capacity_) {
    by_denial_.fetch_add(1, std::memory_order_relaxed);
    return Verdict{.basis = Basis::kDenial, .retry_after = limit::kNever};
  }
  if (n == 0) return std::nullopt;
  if (leases()) {
    const PrepaidTokens::Spent spent = state->prepaid.spend(n, now);
    if (spent == PrepaidTokens::Spent::kYesAndLow) buy_ahead(state, now);
    if (spent != PrepaidTokens::Spent::kNo) {
      by_lease_.fetch_add(1, std::memory_order_relaxed);
      return Verdict{
          .allowed = true, .basis = Basis::kLease, .remaining = state->prepaid.held(now)};
    }
  }
  const Nanos refused_for = state->denial.refuses(n, now);
  if (refused_for == Nanos(0)) return std::nullopt;
  by_denial_.fetch_add(1, std::memory_order_relaxed);
  return Verdict{.basis = Basis::kDenial, .retry_after = refused_for};
}

void RateLimiter::Core::buy_ahead(const std::shared_ptr<LimitState>& state, TimePoint now) {
  if (state->denial.refuses(1, now) > Nanos(0) || !state->prepaid.begin_buying()) return;
  const std::uint64_t batch = state->prepaid.batch(0, prepaid_limits_, now);
  if (batch == 0) {
    state->prepaid.end_buying();
    return;
  }
  send(state, {.n = 1, .want = batch}, {.n = 0, .is_buying = true, .at = now},
       now + options_.patience, [](const Verdict&) {});
}

std::optional<Verdict> RateLimiter::Core::answer_or_buy(const std::shared_ptr<LimitState>& state,
                                                        std::uint64_t n, TimePoint now) {
  const bool is_too_long = state->key.size() > prefix_.size() + kLimitKeyBytesMax;
  if (is_too_long) return Verdict{.basis = Basis::kFailure};
  if (std::optional<Verdict> known = answer_here(state, n, now)) return known;
  const bool fails = has_problem_.load(std::memory_order_relaxed);
  const bool may_buy =
      !fails || now.time_since_epoch().count() >= failed_until_.load(std::memory_order_relaxed);
  if (may_buy && state->prepaid.begin_buying()) {
    const std::uint64_t more = state->prepaid.batch(n, prepaid_limits_, now);
    send(state, {.n = n, .want = n + more}, {.n = 0, .is_buying = true, .at = now, .least = n},
         now + options_.patience, [](const Verdict&) {});
  }
  if (fails) return Verdict{.basis = Basis::kFailure};
  return std::nullopt;
}

void RateLimiter::Core::ask(const std::shared_ptr<LimitState>& state, std::uint64_t n,
                            TimePoint deadline, Done done) {
  const TimePoint now = BootClock::now();
  if (state->key.size() > prefix_.size() + kLimitKeyBytesMax) {
    done(failed(
        {ErrorCode::kOutOfRange, fmt::format("the key is longer than {} bytes", kLimitKeyBytesMax)},
        Nanos(0)));
    return;
  }
  if (now.time_since_epoch().count() < suspended_until_.load(std::memory_order_relaxed)) {
    done(failed(
        {ErrorCode::kTimedOut,
         "the server did not answer the last request in time, so it is not asked for a moment"},
        Nanos(0)));
    return;
  }
  const bool is_buying = n > 0 && leases() && state->prepaid.begin_buying();
  if (!is_buying) state->prepaid.spent_directly(n);
  const std::uint64_t more = is_buying ? state->prepaid.batch(n, prepaid_limits_, now) : 0;
  send(state, {.n = n, .want = n + more}, {.n = n, .is_buying = is_buying, .at = now}, deadline,
       std::move(done));
}

void RateLimiter::Core::send(const std::shared_ptr<LimitState>& state,
                             const LimitQuestion& question, const Asked& asked, TimePoint deadline,
                             Done done) {
  server_.call(limit_call(limit_library(), options_.limit, state->key, question), deadline,
               [self = shared_from_this(), state, asked,
                done = std::move(done)](const Result<resp::Value>& reply) {
                 const Verdict verdict = self->verdict(*state, asked, reply);
                 if (asked.is_buying) state->prepaid.end_buying();
                 done(verdict);
               });
}

Verdict RateLimiter::Core::ask_and_wait(const std::shared_ptr<LimitState>& state, std::uint64_t n,
                                        TimePoint deadline) {
  const TimePoint began = BootClock::now();
  auto answer = std::make_shared<std::promise<Verdict>>();
  std::future<Verdict> told = answer->get_future();
  ask(state, n, deadline, [answer](const Verdict& verdict) { answer->set_value(verdict); });
  // The server's thread enforces the deadline, unless it is resolving a name just then.
  if (deadline != Server::kNoDeadline &&
      told.wait_for(deadline + Millis(5) - BootClock::now()) != std::future_status::ready)
    return failed({ErrorCode::kTimedOut, "the server did not answer before the deadline"},
                  BootClock::now() - began);
  return told.get();
}

// ---- what the server says

Verdict RateLimiter::Core::verdict(LimitState& state, const Asked& asked,
                                   const Result<resp::Value>& reply) {
  if (!reply.ok()) return failed(reply.error(), BootClock::now() - asked.at);
  const Result<LimitAnswer> answer = limit_answer(*reply);
  if (!answer.ok()) return failed(answer.error(), Nanos(0));
  asked_.fetch_add(1, std::memory_order_relaxed);
  if (has_problem_.load(std::memory_order_relaxed) && has_problem_.exchange(false)) {
    const std::lock_guard lock(problem_mutex_);
    problem_.clear();
  }
  const bool is_granted =
      answer->granted >= std::max<std::uint64_t>(asked.n, asked.is_buying ? asked.least : 0);
  return is_granted ? granted(state, asked, *answer) : denied(state, asked, *answer);
}

Verdict RateLimiter::Core::granted(LimitState& state, const Asked& asked,
                                   const LimitAnswer& answer) {
  allowed_.fetch_add(1, std::memory_order_relaxed);
  if (asked.is_buying) {
    const std::uint64_t more = answer.granted - asked.n;
    const std::uint64_t lapsed =
        state.prepaid.add(more, prepaid_limits_, asked.at, BootClock::now());
    leased_.fetch_add(more, std::memory_order_relaxed);
    lapsed_.fetch_add(lapsed, std::memory_order_relaxed);
  }
  return {.allowed = true, .basis = Basis::kServer, .remaining = answer.remaining};
}

// Counts from the time of the question: the next question takes as long to reach the server.
Verdict RateLimiter::Core::denied(LimitState& state, const Asked& asked,
                                  const LimitAnswer& answer) {
  refused_.fetch_add(1, std::memory_order_relaxed);
  Nanos retry_after = answer.retry_after;
  if (state.prepaid.is_in_use()) retry_after = std::max(retry_after, pause_);
  state.denial.remember(std::max(asked.n, asked.least), asked.at + retry_after);
  return {.basis = Basis::kServer, .retry_after = retry_after, .remaining = answer.remaining};
}

Verdict RateLimiter::Core::failed(const Error& error, Nanos waited) {
  failures_.fetch_add(1, std::memory_order_relaxed);
  if (error.code == ErrorCode::kTimedOut && waited >= options_.patience) {
    const TimePoint until = BootClock::now() + options_.patience;
    suspended_until_.store(until.time_since_epoch().count(), std::memory_order_relaxed);
  }
  failed_until_.store((BootClock::now() + options_.patience).time_since_epoch().count(),
                      std::memory_order_relaxed);
  {
    const std::lock_guard lock(problem_mutex_);
    problem_ = error.message;
  }
  has_problem_.store(true);
  const bool allowed = options_.on_failure == OnFailure::kAllow;
  return {.allowed = allowed,
          .basis = Basis::kFailure,
          .retry_after = allowed ? Nanos(0) : options_.patience};
}

// ---- what is told

RateLimiterCounts RateLimiter::Core::counts() const {
  const auto value = [](const auto& each) { return each.load(std::memory_order_relaxed); };
  return {.asked = value(asked_),
          .by_lease = value(by_lease_),
          .by_denial = value(by_denial_),
          .allowed = value(allowed_),
          .refused = value(refused_),
          .failures = value(failures_),
          .leased_tokens = value(leased_),
          .lapsed_tokens = value(lapsed_)};
}

std::string RateLimiter::Core::problem() const {
  const std::lock_guard lock(problem_mutex_);
  return problem_;
}

}  // namespace heatsink::distributed
