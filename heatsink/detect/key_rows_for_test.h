// SPDX-License-Identifier: Apache-2.0
// For tests of the parts of a KeyTable: rows with keys.
#pragma once

#include <cstdint>

#include "heatsink/detect/key_rows.h"

namespace heatsink::detect {

// Gives the row to a key that had `count` accesses in the current slot.
inline void put(KeyRows& rows, std::uint32_t row, std::uint64_t tag, std::uint32_t count) {
  rows.begin(row, {.tag = tag, .amount = {}, .db = 0, .client = 0, .command = 0, .name_size = 0});
  rows.counts(row).count[rows.at().slot] = count;
}

}  // namespace heatsink::detect
