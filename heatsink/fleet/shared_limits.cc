// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/shared_limits.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "heatsink/base/hash.h"

namespace heatsink::fleet {
namespace {

using limit::Decision;
using limit::LimiterOptions;

constexpr Nanos kAskAgain = Millis(1);

// The part of one of `instances`. Its period is at most a day, so that a part of 1/d is still 1/d.
LimiterOptions part_of(LimiterOptions whole, std::uint64_t instances) {
  const auto parts = static_cast<std::int64_t>(std::max<std::uint64_t>(instances, 1));
  whole.burst = std::max<std::uint64_t>(limit::burst_of(whole) / instances, 1);
  if (whole.algorithm != limit::Algorithm::kTokenBucket) {
    whole.rate.count = std::max<std::uint64_t>(whole.rate.count / instances, 1);
    whole.burst = 0;
  } else if (whole.rate.per <= limit::kPerMax / parts) {
    whole.rate.per *= parts;
  } else {
    whole.rate.count = std::max<std::uint64_t>(whole.rate.count / instances, 1);
  }
  return whole;
}

std::string name_on_server(const std::string& fleet, const std::string& name) {
  std::string whole = fleet + ":" + name;
  if (whole.size() <= distributed::kNameBytesMax) return whole;
  return fleet + "#" + std::to_string(hash_name(whole, 0).value);
}

}  // namespace

// The limit of one rule.
class ServerLimit final : public limit::SharedLimit,
                          public std::enable_shared_from_this<ServerLimit> {
 public:
  ServerLimit(std::unique_ptr<distributed::RateLimiter> limiter, const LimiterOptions& options,
              std::size_t keys_max, std::shared_ptr<const std::atomic<std::uint64_t>> instances)
      : limiter_(std::move(limiter)),
        options_(options),
        keys_max_(keys_max),
        instances_(std::move(instances)) {}

  std::shared_ptr<limit::Limiter> of(std::string_view key) override;
  std::string problem() const override { return limiter_->problem(); }

  // The part of the limit that this instance may give by itself.
  std::shared_ptr<limit::LimiterTable> alone() {
    const std::uint64_t instances = std::max<std::uint64_t>(instances_->load(), 1);
    const std::lock_guard lock(mutex_);
    if (alone_ == nullptr || alone_of_ != instances) {
      alone_ = std::make_shared<limit::LimiterTable>(part_of(options_, instances), keys_max_);
      alone_of_ = instances;
    }
    return alone_;
  }

 private:
  const std::unique_ptr<distributed::RateLimiter> limiter_;
  const LimiterOptions options_;
  const std::size_t keys_max_;
  const std::shared_ptr<const std::atomic<std::uint64_t>> instances_;
  std::mutex mutex_;  // guards the rest; taken only while the server does not answer
  std::shared_ptr<limit::LimiterTable> alone_;
  std::uint64_t alone_of_ = 0;
};

namespace {

// For one request: it remembers from where its tokens came.
class RequestLimiter final : public limit::Limiter {
 public:
  RequestLimiter(std::shared_ptr<ServerLimit> limit, distributed::RateLimiter::Handle handle,
                 std::uint64_t key)
      : limit_(std::move(limit)), handle_(std::move(handle)), key_(key) {}

  Decision try_acquire(std::uint64_t n, TimePoint now) noexcept override {
    const std::optional<distributed::Verdict> verdict = handle_.try_here(n, now);
    if (!verdict) return {.retry_after = kAskAgain, .undecided = true};
    if (verdict->basis != distributed::Basis::kFailure)
      return {.allowed = verdict->allowed,
              .retry_after = verdict->retry_after,
              .remaining = verdict->remaining};
    alone_ = limit_->alone();
    return alone_->of(key_, now).try_acquire(n, now);
  }

  void give_back(std::uint64_t n, TimePoint taken_at) noexcept override {
    if (alone_ != nullptr) {
      alone_->of(key_, taken_at).give_back(n, taken_at);
    } else {
      handle_.give_back(n, taken_at);
    }
  }

  void forget() noexcept override {}

 private:
  const std::shared_ptr<ServerLimit> limit_;
  const distributed::RateLimiter::Handle handle_;
  const std::uint64_t key_;
  std::shared_ptr<limit::LimiterTable> alone_;  // null: the tokens came from the server
};

}  // namespace

std::shared_ptr<limit::Limiter> ServerLimit::of(std::string_view key) {
  return std::make_shared<RequestLimiter>(shared_from_this(), limiter_->at(key),
                                          hash_name(key, 0).value | 1);
}

ServerLimits::ServerLimits(std::string fleet, net::RedisUrl url, net::TlsContext tls,
                           distributed::ServerOptions options)
    : fleet_(std::move(fleet)),
      instances_(std::make_shared<std::atomic<std::uint64_t>>(1)),
      url_(std::move(url)),
      tls_(std::move(tls)),
      options_(std::move(options)) {
  options_.commands = &commands_;
}

ServerLimits::~ServerLimits() = default;

void ServerLimits::set_tls(net::TlsContext tls) {
  const std::lock_guard lock(mutex_);
  tls_ = std::move(tls);
}

void ServerLimits::set_credentials(const std::string& user, const std::string& password) {
  const std::lock_guard lock(mutex_);
  if (url_.user == user && url_.password == password) return;
  url_.user = user;
  url_.password = password;
  server_.reset();  // limits that are open keep theirs; a new configuration opens its limits anew
}

Result<std::shared_ptr<limit::SharedLimit>> ServerLimits::open(const std::string& name,
                                                               const LimiterOptions& options,
                                                               std::size_t keys_max) {
  const std::lock_guard lock(mutex_);
  if (server_ == nullptr) server_ = distributed::Server::open(url_, tls_, options_, followed_);
  distributed::RateLimiterOptions limiting;
  limiting.name = name_on_server(fleet_, name);
  limiting.limit = options;
  limiting.lease_share = kHeldShare;
  limiting.on_failure = distributed::OnFailure::kRefuse;  // try_here() says that it has failed
  limiting.patience = kPatience;
  limiting.keys_max = keys_max;
  Result<std::unique_ptr<distributed::RateLimiter>> limiter =
      distributed::RateLimiter::make(server_, limiting);
  if (!limiter.ok()) return limiter.error();
  return std::shared_ptr<limit::SharedLimit>(
      std::make_shared<ServerLimit>(std::move(*limiter), options, keys_max, instances_));
}

}  // namespace heatsink::fleet
