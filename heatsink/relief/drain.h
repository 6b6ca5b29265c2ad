// SPDX-License-Identifier: Apache-2.0
// Decides, while a proxy drains, when each client stops sending requests and when its connection is
// closed.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>

#include "heatsink/base/clock.h"

namespace heatsink::proxy {

// Why a client's connection cannot be closed yet.
enum class Stay : std::uint8_t {
  kAtRest,        // nothing keeps it: it has all its replies
  kReplies,       // replies are on their way, or the client has not read them
  kTransaction,   // MULTI or WATCH
  kWait,          // a blocking command
  kSubscription,  // it expects messages; also MONITOR and replication
  kClosing,       // its connection is half closed: the client has to close its end
};
inline constexpr std::size_t kStays = 6;
// "3 in a transaction, 1 in a blocking command"; the clients at rest are left out. "": none.
std::string describe_stays(const std::array<std::uint64_t, kStays>& clients);

// The schedule of one drain. A pure function of time; immutable.
//
//   begin .. begin + spread    one client after the other stops sending requests
//   .. begin + limit           what clients have begun may end; who has all replies is closed
//   begin + limit              blocking commands are ended on the server, subscribers are closed
//   .. begin + limit + kLast   the last replies; then the clients that are left are cut
class Drain {
 public:
  // After `limit`, for the replies of blocking commands that were ended.
  static constexpr Nanos kLast = std::chrono::seconds(1);
  // A half-closed connection is closed after this, even if the client has not closed its end. Until
  // then a request that the client was just sending meets no reset, which could destroy replies.
  static constexpr Nanos kLinger = Millis(500);

  // `limit` > 0. `clients`: connected at `begin`.
  Drain(TimePoint begin, Nanos limit, std::size_t clients)
      : begin_(begin),
        limit_(limit),
        spread_(std::min<Nanos>(limit / 4, kPerClient * static_cast<std::int64_t>(clients))),
        clients_(std::max<std::size_t>(clients, 1)) {}

  enum class Step : std::uint8_t {
    kServe,    // it is not this client's turn yet
    kFinish,   // no further requests, except those that end a transaction
    kClose,    // half-close the connection
    kEndWait,  // end its blocking command as if its time were over
    kCut,      // close the connection, whatever it waits for
  };
  // `rank`: the client's place in the order of the drain; those that came later have a rank of at
  // least `clients`. `only_subscribers`: no other client is left in the whole proxy.
  Step step(Stay why, std::size_t rank, bool only_subscribers, TimePoint now) const {
    const bool over = now >= begin_ + limit_;
    if (now >= begin_ + limit_ + kLast) return Step::kCut;
    if (now < turn_of(rank)) return Step::kServe;
    switch (why) {
      case Stay::kAtRest:
        return Step::kClose;
      case Stay::kSubscription:
        return over || only_subscribers ? Step::kClose : Step::kServe;
      case Stay::kWait:
        return over ? Step::kEndWait : Step::kFinish;
      default:
        return Step::kFinish;
    }
  }

 private:
  static constexpr Nanos kPerClient = Millis(1);  // no storm of reconnecting clients

  TimePoint turn_of(std::size_t rank) const {
    const std::size_t place = std::min(rank, clients_);
    return begin_ +
           spread_ * static_cast<std::int64_t>(place) / static_cast<std::int64_t>(clients_);
  }

  TimePoint begin_;
  Nanos limit_;
  Nanos spread_;
  std::size_t clients_;
};

// What all workers of a draining proxy count together. Thread-safe.
struct DrainProgress {
  std::atomic<bool> on{false};
  std::atomic<std::size_t> workers_to_begin{0};
  std::array<std::atomic<std::uint64_t>, kStays> clients{};  // by Stay
  std::atomic<std::uint64_t> closed{0}, cut{0};

  // No client is left, except subscribers.
  bool only_subscribers() const {
    std::uint64_t others = 0;
    for (std::size_t i = 0; i < kStays; ++i)
      if (static_cast<Stay>(i) != Stay::kSubscription) others += clients[i].load();
    return workers_to_begin.load() == 0 && others == 0;
  }
};

}  // namespace heatsink::proxy
