// SPDX-License-Identifier: Apache-2.0
// Compares the commands that clients sent with those that the servers got: the load taken off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "heatsink/base/clock.h"

namespace heatsink::copies {

// The load taken off is
//
//   (commands of clients - commands that the servers got) / commands of clients
//
// Both are counted where the bytes are sent, so that nothing can be forgotten. It is what INFO
// commandstats of the servers shows, and it is negative if the proxy sends more than it spares. How
// each relief counts:
//
//   hit in a local copy   one command less
//   start of a fill       a miss; the fill itself is two commands (the read, and PTTL): one more
//   joined fill           a miss, because the client waits for the server; but one command less
//   MGET of copies        one command less, however many keys it names
//   gathered writes       all but the one command that is sent for them
//   refused by a limit    one command less: the server would have executed it
//   spread copies         a read of a copy on a node is a command, as without; leases, fills and
//                         tombstones come on top
//   reads at replicas     nothing: the load moves to another server. Polls of the replicas come on
//                         top
//   answered by the proxy HELLO, SELECT, CLIENT ... one command less; on its own connections the
//                         proxy sends such commands, too, and they count
//   scattered over nodes  a command for each node: a MGET of four nodes is three more
//   the proxy's own       fills, renewals, warming, proofs (heartbeats), barriers, TOUCH, audits,
//                         probes, tracking, polls of the topology, the fleet's reports and limits
//
// Not counted: commands that got no connection to a server, what a script executes inside, and
// what one server replicates to another.
struct CommandLoad {
  std::uint64_t sent = 0;      // by clients
  std::uint64_t executed = 0;  // sent to servers, for clients and for the proxy itself
  std::uint64_t own = 0;       // of `executed`: by the keeper and the fleet's limits

  friend CommandLoad operator-(const CommandLoad& a, const CommandLoad& b) {
    return {a.sent - b.sent, a.executed - b.executed, a.own - b.own};
  }
  // 1: the servers got nothing; negative: more than clients sent. 0 without commands of clients.
  double taken_off() const {
    return sent == 0 ? 0 : 1 - static_cast<double>(executed) / static_cast<double>(sent);
  }
};

// Samples of totals that only grow. One thread; no clock.
class LoadWindow {
 public:
  // Call it several times per window.
  void note(TimePoint now, const CommandLoad& total, Nanos window);

  struct Span {
    CommandLoad load;
    Nanos covered{0};

    double per_second(std::uint64_t commands) const {
      const double seconds = std::chrono::duration<double>(covered).count();
      return seconds > 0 ? static_cast<double>(commands) / seconds : 0;
    }
  };
  // From a sample about a window ago until now.
  Span over(TimePoint now, const CommandLoad& total, Nanos window) const;

 private:
  static constexpr int kSamplesPerWindow = 50;
  struct Sample {
    TimePoint at;
    CommandLoad total;
  };
  std::deque<Sample> samples_;  // the first one is the last that is at least a window old
};

}  // namespace heatsink::copies
