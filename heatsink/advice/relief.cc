// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/relief.h"

#include <cstdlib>

namespace heatsink::advice {

const char* to_string(Relief relief) {
  switch (relief) {
    case Relief::kCoherentCopies:
      return "local copies";
    case Relief::kWarming:
      return "warming";
    case Relief::kLibrary:
      return "the library";
    case Relief::kOneReadAtExpiry:
      return "one read at expiry";
    case Relief::kStaleWhileError:
      return "stale-while-error";
    case Relief::kGatheredWrites:
      return "gathered writes";
    case Relief::kStaleReads:
      return "a limit, rest stale";
    case Relief::kLimit:
      return "a limit";
    case Relief::kClientLimit:
      return "a limit per client";
    case Relief::kLeases:
      return "leases";
    case Relief::kWindowStatistics:
      return "window statistics";
    case Relief::kSlots:
      return "moving slots";
    case Relief::kAgingCopies:
      return "copies by age";
    case Relief::kReplicaReads:
      return "replica reads";
    case Relief::kSplit:
      return "splitting";
  }
  std::abort();
}

}  // namespace heatsink::advice
