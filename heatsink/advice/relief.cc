// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/relief.h"

#include <cstdlib>

namespace heatsink::advice {

const char* to_string(ReliefKind relief) {
  switch (relief) {
    case ReliefKind::kCoherentCopies:
      return "local copies";
    case ReliefKind::kWarming:
      return "warming";
    case ReliefKind::kLibrary:
      return "the library";
    case ReliefKind::kOneReadAtExpiry:
      return "one read at expiry";
    case ReliefKind::kStaleWhileError:
      return "stale-while-error";
    case ReliefKind::kGatheredWrites:
      return "gathered writes";
    case ReliefKind::kStaleReads:
      return "a limit, rest stale";
    case ReliefKind::kLimit:
      return "a limit";
    case ReliefKind::kClientLimit:
      return "a limit per client";
    case ReliefKind::kLeases:
      return "leases";
    case ReliefKind::kWindowStatistics:
      return "window statistics";
    case ReliefKind::kSlots:
      return "moving slots";
    case ReliefKind::kAgingCopies:
      return "copies by age";
    case ReliefKind::kReplicaReads:
      return "replica reads";
    case ReliefKind::kSplit:
      return "splitting";
  }
  std::abort();
}

}  // namespace heatsink::advice
