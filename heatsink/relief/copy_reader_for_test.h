// SPDX-License-Identifier: Apache-2.0
// A stand-in client with the reliefs that its reads of copies need.
#pragma once

#include <cstdint>

#include "heatsink/relief/copy_reads.h"
#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {

struct CopyReader {
  CopyReader(std::uint64_t id, const WorkerParts& parts, FillGate* gate = nullptr)
      : client(id),
        lookup(parts, client.context),
        barriers(parts, client.context),
        reads(parts, client.context, lookup, barriers, gate) {}

  PlayedClient client;
  CopyLookup lookup;
  Barriers barriers;
  CopyReads reads;
};

}  // namespace heatsink::proxy
