// SPDX-License-Identifier: Apache-2.0
#include "heatsink/capture/counters.h"

#include <fmt/format.h>

namespace heatsink::capture {
namespace {

// A sentence for the user, with a counter inserted if it has one.
struct Caveat {
  std::uint64_t CaptureCounters::*count;
  const char* text;
};

constexpr Caveat kCaveats[] = {
    {&CaptureCounters::connections_tls,
     "{} connections are encrypted (TLS), so a capture cannot read them: "
     "use another source, which asks the server."},
    {&CaptureCounters::dropped_by_kernel,
     "{} packets were dropped because the kernel's buffer was full."},
    {&CaptureCounters::packets_cut,
     "{} packets were cut by the capture (snaplen), so their ends are missing: "
     "capture whole packets, as with tcpdump -s 0."},
    {&CaptureCounters::fragments, "{} IP fragments were not reassembled."},
    {&CaptureCounters::gaps, "In {} places a part of a connection's bytes is missing."},
    {&CaptureCounters::connections_foreign, "{} connections do not speak RESP."},
    {&CaptureCounters::connections_evicted,
     "{} connections were dropped from memory because they were idle or the table was full."},
    {&CaptureCounters::commands_unmatched,
     "For {} commands it is not certain which reply was theirs: "
     "their latency, sizes and misses are not counted."},
    {&CaptureCounters::commands_db_assumed,
     "{} commands came on connections older than the capture: they count as database 0."},
};

}  // namespace

std::vector<std::string> CaptureCounters::caveats() const {
  std::vector<std::string> sentences;
  for (const Caveat& caveat : kCaveats) {
    const std::uint64_t count = this->*caveat.count;
    if (count > 0) sentences.push_back(fmt::format(fmt::runtime(caveat.text), count));
  }
  return sentences;
}

}  // namespace heatsink::capture
