// SPDX-License-Identifier: Apache-2.0
// Bounds that an option for all keys and its twin in a rule share, as option rows have them:
// nanoseconds, bytes, numbers.
#pragma once

#include <string_view>

#include "heatsink/base/units.h"

namespace heatsink::policy {

constexpr double bound(Nanos duration) { return static_cast<double>(duration.count()); }
constexpr double bound(Bytes size) { return static_cast<double>(size.count); }

inline constexpr double kWindowMin = 1e8, kWindowMax = 3600e9;        // 100 ms .. 1 h
inline constexpr double kResidenceMax = 24 * 3600e9;                  // 24 h
inline constexpr double kStalenessMin = 2e7, kStalenessMax = 60e9;    // 20 ms .. 1 min
inline constexpr double kCoalesceMax = 1e9;                           // 1 s
inline constexpr double kStaleWhileErrorMax = 3600e9;                 // 1 h
inline constexpr double kBurstMax = 1e9;                              // commands
inline constexpr double kDelayMin = 1e6, kDelayMax = 60e9;            // 1 ms .. 1 min
inline constexpr double kReplicaLagMin = 2e8, kReplicaLagMax = 60e9;  // 200 ms .. 1 min
inline constexpr double kStaleMax = 3600e9;                           // 1 h
inline constexpr double kSpreadTtlMin = 1e8;                          // 100 ms, up to kStalenessMax
inline constexpr double kRateMin = 1, kRateMax = 1e9;                 // per second
inline constexpr double kByteRateMin = 1024;                          // per second
inline constexpr double kByteRateMax = 1024.0 * 1024 * 1024 * 1024;

// Words for what to use instead of deprecated options that rules have, too.
inline constexpr std::string_view kInsteadOfShare =
    "detection.hot-qps: auto is a share of the traffic; a rule can set another hot-qps.";

}  // namespace heatsink::policy
