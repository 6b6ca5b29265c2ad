// SPDX-License-Identifier: Apache-2.0
// How much of something may happen in all processes together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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
  // Limits of one name share what is kept on the server, as "heatsink:limit:ALGORITHM:NAME:KEY":
  // the same in all processes, as are the numbers below. At most kNameBytesMax.
  std::string name = "default";
  // Algorithm (kTokenBucket or kSlidingWindow), rate, burst, slots.
  limit::LimiterOptions limit{};
  // Of the burst (of the window's count) that this process may hold paid for and unspent, of one
  // key. 0: none, and the server is asked each time. Above, up to 1: most asks are answered here.
  double lease_share = 0;
  Nanos lease_lasts = Millis(200);  // 10 ms .. 1 min; an unspent token is worth nothing after it
  // The server cannot be reached, has an error, or does not answer in time: what passes then is
  // everything, uncounted, or nothing.
  OnFailure on_failure = OnFailure::kAllow;
  Nanos patience = Millis(100);   // that a caller waits for the server, unless he says otherwise
  std::size_t keys_max = 10'000;  // that this process remembers something of
};
inline constexpr std::size_t kNameBytesMax = 100;
inline constexpr std::size_t kLimitKeyBytesMax = 1024;  // a longer key is a failure

// Why it is allowed, or refused.
enum class Basis : std::uint8_t {
  kServer,   // the server said so
  kLease,    // it was paid for before
  kDenial,   // the server had said so, and cannot have changed its mind
  kFailure,  // on_failure
};
std::string_view to_string(Basis basis);  // "server", "lease", "denial", "failure"

struct Verdict {
  bool allowed = false;
  Basis basis = Basis::kServer;
  // Refused: worth asking again after so long; limit::kNever: not with that n.
  Nanos retry_after{0};
  std::uint64_t remaining = 0;  // kServer: of all; kLease: of what is held here
};

struct RateLimiterCounts {
  std::uint64_t asked = 0;          // asks that the server has answered
  std::uint64_t by_lease = 0;       // allowed without it
  std::uint64_t by_denial = 0;      // refused without it
  std::uint64_t allowed = 0;        // of asked
  std::uint64_t refused = 0;        // of asked
  std::uint64_t failures = 0;       // asks that on_failure has answered
  std::uint64_t leased_tokens = 0;  // paid for to be spent later
  std::uint64_t lapsed_tokens = 0;  // of these: not spent in time
};

// What is promised (docs/design/distributed.md has the reasons):
// * All processes together never spend more than the server has granted, and that is the limit's
//   own bound: token bucket: in any time T burst + T x rate; window: its count in any window. With
//   leases what was granted before T and not yet spent comes on top: processes x lease_share x
//   burst at most. In total, from the beginning on, never more than without leases.
// * Less by what lapses: leased tokens that their process did not spend within lease_lasts.
// * A server that loses its memory (restarted without persistence) begins anew: one burst more.
// * on_failure kAllow: what passes during a failure is on top of all that.
//
// Thread-safe; copies of a handle share all. An ask that is answered here takes no lock by a
// handle, and one of 16 by a key; an ask of the server a round trip.
class RateLimiter {
  class Core;

 public:
  using Done = std::function<void(const Verdict&)>;

  // Error: an option that cannot be, with its bounds.
  static Result<std::unique_ptr<RateLimiter>> make(std::shared_ptr<Server> server,
                                                   const RateLimiterOptions& options);
  ~RateLimiter();
  RateLimiter(const RateLimiter&) = delete;

  // The limit of one key. May outlive the limiter, and keeps its server open: not to be destroyed
  // by a `done`.
  class Handle {
   public:
    // All n or none; n = 0 takes nothing and tells what remains. Blocks for a round trip at most,
    // and not past `deadline` (by default the patience from now).
    Verdict try_acquire(std::uint64_t n = 1) const;
    Verdict try_acquire(std::uint64_t n, TimePoint deadline) const;
    // Waits for its turn, too: asks again after retry_after, as long as that is before `deadline`.
    Verdict acquire(std::uint64_t n, TimePoint deadline) const;
    // Does not block. `done` is called exactly once: by this call if no server is needed, or by the
    // server's thread, which it must not hold up.
    void try_acquire(std::uint64_t n, TimePoint deadline, Done done) const;

   private:
    friend class RateLimiter;
    std::shared_ptr<Server> server_;  // by whoever calls: what the server calls keeps only the rest
    std::shared_ptr<Core> core_;
    std::shared_ptr<LimitState> state_;
  };

  Handle at(std::string_view key) const;
  Verdict try_acquire(std::string_view key, std::uint64_t n = 1) const {
    return at(key).try_acquire(n);
  }

  const std::string& name() const;
  RateLimiterCounts counts() const;
  // Why the last ask failed; "": the server has answered since.
  std::string problem() const;

 private:
  RateLimiter(std::shared_ptr<Server> server, const RateLimiterOptions& options);

  const std::shared_ptr<Server> server_;
  const std::shared_ptr<Core> core_;
};

}  // namespace heatsink::distributed
