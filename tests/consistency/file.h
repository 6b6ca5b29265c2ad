// SPDX-License-Identifier: Apache-2.0
// A history as a file, so that a run can be judged again, or looked at.
//
//   8 bytes  "hshist01"
//   8 bytes  number of operations
//   then 48 bytes for each, all numbers little-endian:
//     0  i64 invoked    8  i64 responded (ns of CLOCK_BOOTTIME; 2^63 - 1: not known)
//    16  u64 value     24  u32 key       28  u32 session   32  u32 order
//    36  u32 ttl (ms)  40  u8 via        41  u8 kind       42  u8 cached   43  zeros
#pragma once

#include <string>

#include "heatsink/base/result.h"
#include "tests/consistency/op.h"

namespace heatsink::consistency {

Status write_history(const std::string& path, const History& history);
Result<History> read_history(const std::string& path);

}  // namespace heatsink::consistency
