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

// Told how many accesses have been read, every 64 Ki lines or packets.
using ReadProgress = std::function<void(std::uint64_t accesses)>;

// Lines that cannot be read are counted and passed over. Errors: the source's own, an unknown
// format, a file without an access, more bad lines than good ones, no time and no rate.
Result<Trace> read_trace(ByteSource& source, const ReadOptions& options,
                         const ReadProgress& progress);

// Of a packet capture (pcap, pcapng), which read_trace() recognises: the commands of every
// connection in it that speaks RESP. One that is cut off or damaged is read up to there, and the
// facts say so.
Result<Trace> read_capture(ByteSource& source, const ReadOptions& options,
                           const ReadProgress& progress);

}  // namespace heatsink::replay
