// SPDX-License-Identifier: Apache-2.0
// Limits a rate over many processes together: the state is kept on a Redis or Valkey server.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/distributed/server.h"
#include "heatsink/limit/limit.h"

namespace heatsink::distributed {

struct LimitState;

enum class OnFailure : std::uint8_t { kAllow, kRefuse };

struct RateLimiterOptions {
  // Limits with the same name share their state on the server, under
  // "heatsink:limit:ALGORITHM:NAME:KEY". All processes must set the same name and the same numbers
  // below. At most kNameBytesMax.
  std::string name = "default";
  // Algorithm (kTokenBucket or kSlidingWindow), rate, burst, slots.
  limit::LimiterOptions limit{};
  // Share of the burst (of the window's count) that this process may hold per key: paid for and
  // unspent. 0: no leases, each decision asks the server. Up to 1: this process answers most calls.
  double lease_share = 0;
  Nanos lease_lasts = Millis(200);  // 10 ms .. 1 min; an unspent token expires after this time
  // The answer if the server cannot be reached, replies with an error, or does not answer in time:
  // allow everything, uncounted, or nothing.
  OnFailure on_failure = OnFailure::kAllow;
  Nanos patience = Millis(100);   // how long a call without a deadline waits for the server
  std::size_t keys_max = 10'000;  // keys whose leases and refusals this process remembers
};
inline constexpr std::size_t kNameBytesMax = 100;
inline constexpr std::size_t kLimitKeyBytesMax = 1024;  // a longer key: on_failure decides

// What a decision is based on.
enum class Basis : std::uint8_t {
  kServer,   // the server decided
  kLease,    // paid for earlier
  kDenial,   // an earlier refusal still holds, or n is more than the limit can ever allow
  kFailure,  // the server did not answer: on_failure decided
};
std::string_view to_string(Basis basis);  // "server", "lease", "denial", "failure"

struct Verdict {
  bool allowed = false;
  Basis basis = Basis::kServer;
  // Refused: ask again after this time; limit::kNever: never with that n.
  Nanos retry_after{0};
  std::uint64_t remaining = 0;  // kServer: of the limit; kLease: of this process's lease
};

struct RateLimiterCounts {
  std::uint64_t asked = 0;          // questions that the server has answered
  std::uint64_t by_lease = 0;       // allowed without asking the server
  std::uint64_t by_denial = 0;      // refused without asking the server
  std::uint64_t allowed = 0;        // of `asked`
  std::uint64_t refused = 0;        // of `asked`
  std::uint64_t failures = 0;       // decisions by on_failure
  std::uint64_t leased_tokens = 0;  // paid for, to be spent later
  std::uint64_t lapsed_tokens = 0;  // of leased_tokens: not spent in time
};

// Promises (reasons: docs/design/distributed.md):
// * All processes together never spend more than the server has granted. That is at most burst +
//   T x rate in any time T for a token bucket, and the count in any window for a sliding window.
//   Both count at the server's decisions, by its clock: replies may come later, and together.
//   With leases, tokens that were granted before T and spent in it are on top: at most processes x
//   lease_share x burst. In total, from the start on, never more than without leases.
// * With leases it may be less: tokens that a process did not spend within lease_lasts lapse.
// * A server that loses its data (restarted without persistence) starts anew: one burst more.
// * With on_failure kAllow, everything that passes during a failure is on top.
//
// Thread-safe; copies of a handle share everything. A call that is answered locally takes no lock
// through a handle, and one of 16 locks through a key. A call that asks the server costs a round
// trip.
class RateLimiter {
  class Core;

 public:
  using Done = std::function<void(const Verdict&)>;

  // Fails if an option is out of bounds; the error has the bounds.
  static Result<std::unique_ptr<RateLimiter>> make(std::shared_ptr<Server> server,
                                                   const RateLimiterOptions& options);
  ~RateLimiter();
  RateLimiter(const RateLimiter&) = delete;

  // The limit of one key. May outlive the limiter, and keeps its server open. Do not destroy it in
  // a `done`.
  class Handle {
   public:
    // Takes all n or none; n = 0 takes nothing and returns what remains. Blocks for at most one
    // round trip, and not past `deadline` (default: now + patience).
    Verdict try_acquire(std::uint64_t n = 1) const;
    Verdict try_acquire(std::uint64_t n, TimePoint deadline) const;
    // Also waits for its turn: asks again after retry_after, as long as that is before `deadline`.
    Verdict acquire(std::uint64_t n, TimePoint deadline) const;
    // Does not block. `done` is called exactly once: by this call if the server is not needed, else
    // by the server's thread. `done` must not block that thread.
    void try_acquire(std::uint64_t n, TimePoint deadline, Done done) const;

    // Decides by what this process holds or knows: prepaid tokens, or a refusal. Nothing: the
    // server was asked for n tokens and more, to be held here; call it again soon. While the server
    // does not answer: kFailure, at once. Needs lease_share > 0. Never blocks; n > 0.
    std::optional<Verdict> try_here(std::uint64_t n, TimePoint now) const;
    // Gives back tokens of try_here() that were not used.
    void give_back(std::uint64_t n, TimePoint now) const;

   private:
    friend class RateLimiter;
    std::shared_ptr<Server> server_;  // kept by callers only; callbacks keep only the rest
    std::shared_ptr<Core> core_;
    std::shared_ptr<LimitState> state_;
  };

  Handle at(std::string_view key) const;
  Verdict try_acquire(std::string_view key, std::uint64_t n = 1) const {
    return at(key).try_acquire(n);
  }

  const std::string& name() const;
  RateLimiterCounts counts() const;
  // Why the last question failed; "": the server has answered since.
  std::string problem() const;

 private:
  RateLimiter(std::shared_ptr<Server> server, const RateLimiterOptions& options);

  const std::shared_ptr<Server> server_;
  const std::shared_ptr<Core> core_;
};

}  // namespace heatsink::distributed
