// SPDX-License-Identifier: Apache-2.0
// Answers reads that ask for a value and for the time that its key has left, both from one copy.
#pragma once

#include <string_view>

#include "heatsink/relief/copy_lookup.h"
#include "heatsink/relief/copy_reads.h"
#include "heatsink/relief/worker_parts.h"

namespace heatsink::proxy {

// For one read; the worker's thread.
class TtlReads {
 public:
  // All outlive it.
  TtlReads(const WorkerParts& parts, CopyLookup& lookup, CopyReads& copies)
      : parts_(parts), lookup_(lookup), copies_(copies) {}
  TtlReads(const TtlReads&) = delete;

  // Answers with `before`, the time as PTTL gives it, and the value, all in RESP3. False: no copy
  // can. Then the read has counted toward one, and may have asked for it, but never waits: not for
  // a reply of any length, unless another client's read has shown that it is not long. REQUIRES
  // that the client is the proxy's own user, and what ReliefChain::passes_plain_gets() says.
  bool serve(Request& read, std::string_view before);

 private:
  const WorkerParts& parts_;
  CopyLookup& lookup_;
  CopyReads& copies_;
};

}  // namespace heatsink::proxy
