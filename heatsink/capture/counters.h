// SPDX-License-Identifier: Apache-2.0
// Counts what a capture has seen and what it has missed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/capture/reply_watch.h"

namespace heatsink::capture {

// All from the beginning on; they only grow, but for those that say "now".
struct CaptureCounters {
  std::uint64_t packets = 0;
  std::uint64_t packet_bytes = 0;       // as they were on the network
  std::uint64_t dropped_by_kernel = 0;  // packets that were never handed over (live)
  std::uint64_t packets_other = 0;      // no TCP, not of these ports, of unknown kinds
  std::uint64_t packets_malformed = 0;  // their headers contradict themselves
  std::uint64_t packets_cut = 0;        // the capture kept less than the packet had (snaplen)
  std::uint64_t fragments = 0;          // of IP, not put together: their bytes are lost
  std::uint64_t stream_bytes = 0;       // of the connections, both directions, as they came
  std::uint64_t request_segments = 0;   // of these the clients'
  std::uint64_t request_bytes = 0;
  std::uint64_t reply_segments = 0;         // what was sent to no port of a server
  std::uint64_t reply_bytes = 0;            // in them
  std::uint64_t segments_again = 0;         // retransmitted, or captured twice
  std::uint64_t segments_out_of_order = 0;  // held until those before had come
  std::uint64_t gaps = 0;                   // places where bytes of a stream never came
  std::uint64_t bytes_lost = 0;             // in the gaps
  std::uint64_t request_bytes_lost = 0;     // of these the clients': commands were among them
  std::uint64_t bytes_skipped = 0;  // seen, but before a place where a message surely begins
  std::uint64_t request_bytes_skipped = 0;  // likewise
  std::uint64_t connections = 0;
  std::uint64_t connections_now = 0;
  std::uint64_t connections_joined = 0;   // whose beginning is not in the capture
  std::uint64_t connections_tls = 0;      // encrypted: nothing can be read
  std::uint64_t connections_foreign = 0;  // they do not speak RESP
  std::uint64_t connections_evicted = 0;  // forgotten for lack of room, or idle for long
  std::uint64_t commands = 0;
  std::uint64_t commands_answered = 0;   // with their reply; of the others the latency, the size
                                         // and whether the key was there are not known
  std::uint64_t commands_unmatched = 0;  // it was not certain which reply is theirs
  std::uint64_t commands_unwatched = 0;  // their replies were not captured, to save the copying
  // Whose replies are captured, of ReplyWatch::kParts.
  std::uint64_t reply_parts_now = ReplyWatch::kParts;
  std::uint64_t commands_db_assumed = 0;  // taken for database 0
  std::uint64_t matching_lost = 0;        // times that replies could no longer be told apart
  std::uint64_t bad_requests = 0;         // places where the clients' bytes were no RESP
  std::uint64_t bad_replies = 0;          // likewise the servers'

  // Sentences for a person about what may be missing from the figures; none: nothing is.
  std::vector<std::string> caveats() const;
};

}  // namespace heatsink::capture
