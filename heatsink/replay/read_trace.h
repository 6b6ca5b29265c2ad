// SPDX-License-Identifier: Apache-2.0
// Reads a trace from a file: unpacks it and recognises its format.
#pragma once

#include <functional>
#include <string>

#include "heatsink/base/result.h"
#include "heatsink/replay/byte_source.h"
#include "heatsink/replay/trace.h"

namespace heatsink::replay {

struct ReadOptions {
  Timing timing;
  Bytes memory_max = mebibytes(2048);  // of the trace in memory (TraceBuilder); past it reading
                                       // ends, and the facts say so
};

// Called with the number of accesses read so far, every 64 Ki lines or packets.
using ReadProgress = std::function<void(std::uint64_t accesses)>;

// Counts and skips bad lines. Errors: those of the source, an unknown format, a file without
// accesses, more bad lines than good ones, no time and no rate.
Result<Trace> read_trace(ByteSource& source, const ReadOptions& options,
                         const ReadProgress& progress);

// Reads a packet capture (pcap, pcapng), which read_trace() recognises: the commands of each
// connection that speaks RESP. A damaged or cut-off capture is read up to the damage, and the facts
// say so.
Result<Trace> read_capture(ByteSource& source, const ReadOptions& options,
                           const ReadProgress& progress);

}  // namespace heatsink::replay
