// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/rate_limiter.h"

#include <fmt/format.h>

#include <cstdlib>
#include <thread>
#include <utility>

#include "heatsink/distributed/rate_limiter_core.h"

namespace heatsink::distributed {
namespace {

Error refused(std::string why) { return {ErrorCode::kOutOfRange, std::move(why)}; }

Status check(const RateLimiterOptions& options) {
  if (options.name.empty() || options.name.size() > kNameBytesMax)
    return refused(fmt::format("the limiter's name must have 1 to {} bytes", kNameBytesMax));
  if (options.name.find_first_of("{}") != std::string::npos)
    return refused("the limiter's name must not have braces (a key may, to choose its slot)");
  if (!(options.lease_share >= 0 && options.lease_share <= 1))
    return refused("the limiter's lease_share must be from 0 to 1");
  if (options.lease_lasts < Millis(10) || options.lease_lasts > std::chrono::minutes(1))
    return refused("the limiter's lease_lasts must be from 10ms to 1m");
  if (options.patience <= Nanos(0) || options.patience > std::chrono::hours(1))
    return refused("the limiter's patience must be longer than 0 and at most 1h");
  if (options.keys_max < 1) return refused("the limiter's keys_max must be at least 1");
  return check_distributed(options.limit);
}

}  // namespace

std::string_view to_string(Basis basis) {
  switch (basis) {
    case Basis::kServer:
      return "server";
    case Basis::kLease:
      return "lease";
    case Basis::kDenial:
      return "denial";
    case Basis::kFailure:
      return "failure";
  }
  std::abort();
}

Result<std::unique_ptr<RateLimiter>> RateLimiter::make(std::shared_ptr<Server> server,
                                                       const RateLimiterOptions& options) {
  if (const Status checked = check(options); !checked.ok()) return checked.error();
  return std::unique_ptr<RateLimiter>(new RateLimiter(std::move(server), options));
}

RateLimiter::RateLimiter(std::shared_ptr<Server> server, const RateLimiterOptions& options)
    : server_(std::move(server)), core_(std::make_shared<Core>(*server_, options)) {}
RateLimiter::~RateLimiter() = default;

RateLimiter::Handle RateLimiter::at(std::string_view key) const {
  Handle handle;
  handle.server_ = server_;
  handle.core_ = core_;
  handle.state_ = core_->find(key);
  return handle;
}

const std::string& RateLimiter::name() const { return core_->name(); }
RateLimiterCounts RateLimiter::counts() const { return core_->counts(); }
std::string RateLimiter::problem() const { return core_->problem(); }

Verdict RateLimiter::Handle::try_acquire(std::uint64_t n) const {
  const TimePoint now = BootClock::now();
  if (const auto known = core_->answer_here(state_, n, now)) return *known;
  return core_->ask_and_wait(state_, n, now + core_->patience());
}

Verdict RateLimiter::Handle::try_acquire(std::uint64_t n, TimePoint deadline) const {
  const TimePoint now = BootClock::now();
  if (const auto known = core_->answer_here(state_, n, now)) return *known;
  return core_->ask_and_wait(state_, n, deadline);
}

void RateLimiter::Handle::try_acquire(std::uint64_t n, TimePoint deadline, Done done) const {
  const auto known = core_->answer_here(state_, n, BootClock::now());
  if (known)
    done(*known);
  else
    core_->ask(state_, n, deadline, std::move(done));
}

std::optional<Verdict> RateLimiter::Handle::try_here(std::uint64_t n, TimePoint now) const {
  return core_->answer_or_buy(state_, n, now);
}

void RateLimiter::Handle::give_back(std::uint64_t n, TimePoint now) const {
  state_->prepaid.give_back(n, now);
}

Verdict RateLimiter::Handle::acquire(std::uint64_t n, TimePoint deadline) const {
  for (;;) {
    const Verdict verdict = try_acquire(n, deadline);
    const TimePoint now = BootClock::now();
    if (verdict.allowed || verdict.basis == Basis::kFailure) return verdict;
    if (now >= deadline || verdict.retry_after > deadline - now) return verdict;
    std::this_thread::sleep_for(verdict.retry_after);
  }
}

}  // namespace heatsink::distributed
