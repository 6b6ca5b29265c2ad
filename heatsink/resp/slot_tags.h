// SPDX-License-Identifier: Apache-2.0
// Gives a hash tag for each slot of a cluster, to name keys that are in that slot.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace heatsink::resp {

// At most four lower case letters and digits, without braces. The first call makes the table, which
// takes some 10 ms and 80 KiB for the life of the process; then O(1). Any thread.
std::string_view tag_of_slot(std::uint16_t slot);

// "{tag}name", which is in the slot.
std::string name_in_slot(std::uint16_t slot, std::string_view name);

}  // namespace heatsink::resp
