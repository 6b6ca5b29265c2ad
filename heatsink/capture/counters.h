// SPDX-License-Identifier: Apache-2.0
// Counts what a capture has seen and what it has missed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/capture/reply_watch.h"

namespace heatsink::capture {

// Counters since the beginning. They only grow, except those with "now" in their name.
struct CaptureCounters {
  std::uint64_t packets = 0;
  std::uint64_t packet_bytes = 0;       // sizes on the network
  std::uint64_t dropped_by_kernel = 0;  // never handed over (live)
  std::uint64_t packets_other = 0;      // not TCP, other ports, or unknown kinds
  std::uint64_t packets_malformed = 0;  // headers that contradict each other
  std::uint64_t packets_cut = 0;        // the capture kept only a part of the packet (snaplen)
  std::uint64_t fragments = 0;          // of IP; they are not reassembled, so their bytes are lost
  std::uint64_t stream_bytes = 0;       // both directions, as they came
  std::uint64_t request_segments = 0;   // of these, from clients
  std::uint64_t request_bytes = 0;
  std::uint64_t reply_segments = 0;         // segments to a port that is not a server's
  std::uint64_t reply_bytes = 0;            // in these segments
  std::uint64_t segments_again = 0;         // retransmitted, or captured twice
  std::uint64_t segments_out_of_order = 0;  // held until earlier segments came
  std::uint64_t gaps = 0;                   // positions where bytes of a stream never came
  std::uint64_t bytes_lost = 0;             // in the gaps
  std::uint64_t request_bytes_lost = 0;     // of these, from clients: they contained commands
  std::uint64_t bytes_skipped = 0;          // seen, but before a certain message boundary
  std::uint64_t request_bytes_skipped = 0;  // of these, from clients
  std::uint64_t connections = 0;
  std::uint64_t connections_now = 0;
  std::uint64_t connections_joined = 0;   // the capture lacks their beginning
  std::uint64_t connections_tls = 0;      // encrypted, so unreadable
  std::uint64_t connections_foreign = 0;  // they do not speak RESP
  std::uint64_t connections_evicted = 0;  // evicted from a full table, or idle for long
  std::uint64_t commands = 0;
  std::uint64_t commands_answered = 0;   // with their reply; of the others the latency, the size
                                         // and whether the key was there are not known
  std::uint64_t commands_unmatched = 0;  // it was not certain which reply is theirs
  std::uint64_t commands_unwatched = 0;  // their replies were not captured, to save the copying
  // How many of the ReplyWatch::kParts have their replies captured.
  std::uint64_t reply_parts_now = ReplyWatch::kParts;
  std::uint64_t commands_db_assumed = 0;  // counted as database 0
  std::uint64_t matching_lost = 0;  // how often replies could no longer be matched to requests
  std::uint64_t bad_requests = 0;   // positions where the clients' bytes were not RESP
  std::uint64_t bad_replies = 0;    // positions where the servers' bytes were not RESP

  // Sentences for the user about what the figures may miss; empty if they miss nothing.
  std::vector<std::string> caveats() const;
};

}  // namespace heatsink::capture
