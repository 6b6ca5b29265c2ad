// SPDX-License-Identifier: Apache-2.0
// Decides the calls of a RateLimiter: locally if possible, else by asking the server.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/distributed/limit_functions.h"
#include "heatsink/distributed/limit_states.h"
#include "heatsink/distributed/rate_limiter.h"

namespace heatsink::distributed {

// Thread-safe. Lives while a question to the server is open.
class RateLimiter::Core : public std::enable_shared_from_this<Core> {
 public:
  // `server` outlives all calls of this class, but not the pending callbacks.
  Core(Server& server, const RateLimiterOptions& options);

  const std::string& name() const { return options_.name; }
  Nanos patience() const { return options_.patience; }
  std::shared_ptr<LimitState> find(std::string_view key) { return states_.find(prefix_, key); }

  // Decides without the server if possible. Starts to buy the next batch when this one runs low.
  std::optional<Verdict> answer_here(const std::shared_ptr<LimitState>& state, std::uint64_t n,
                                     TimePoint now);
  // As answer_here(), but also buys n tokens and more when there are none.
  std::optional<Verdict> answer_or_buy(const std::shared_ptr<LimitState>& state, std::uint64_t n,
                                       TimePoint now);
  void ask(const std::shared_ptr<LimitState>& state, std::uint64_t n, TimePoint deadline,
           Done done);
  Verdict ask_and_wait(const std::shared_ptr<LimitState>& state, std::uint64_t n,
                       TimePoint deadline);

  RateLimiterCounts counts() const;
  std::string problem() const;

 private:
  struct Asked {
    std::uint64_t n;
    bool is_buying;
    TimePoint at;
    std::uint64_t least = 1;  // with is_buying: fewer are a refusal
  };

  bool leases() const { return prepaid_limits_.held_max > 0; }
  void buy_ahead(const std::shared_ptr<LimitState>& state, TimePoint now);
  void send(const std::shared_ptr<LimitState>& state, const LimitQuestion& question,
            const Asked& asked, TimePoint deadline, Done done);
  Verdict verdict(LimitState& state, const Asked& asked, const Result<resp::Value>& reply);
  Verdict granted(LimitState& state, const Asked& asked, const LimitAnswer& answer);
  Verdict denied(LimitState& state, const Asked& asked, const LimitAnswer& answer);
  Verdict failed(const Error& error, Nanos waited);

  Server& server_;
  const RateLimiterOptions options_;
  const std::string prefix_;
  const std::uint64_t capacity_;
  const PrepaidLimits prepaid_limits_;
  const Nanos pause_;  // between two purchases, after a refused one
  LimitStates states_;
  // After a time-out no call waits until then: nanoseconds of BootClock.
  std::atomic<Nanos::rep> suspended_until_{0};
  // After any failure, answer_or_buy() does not try again until then.
  std::atomic<Nanos::rep> failed_until_{0};
  std::atomic<std::uint64_t> asked_{0}, by_lease_{0}, by_denial_{0}, allowed_{0}, refused_{0},
      failures_{0}, leased_{0}, lapsed_{0};
  std::atomic<bool> has_problem_{false};
  mutable std::mutex problem_mutex_;
  std::string problem_;
};

}  // namespace heatsink::distributed
