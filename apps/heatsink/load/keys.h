// SPDX-License-Identifier: Apache-2.0
// Makes the keys and values of the load, with names like an application's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heatsink::app {

// A fixed, distinct name for each rank: "product:1000:price" is rank 0, the busiest.
std::string key_name(std::uint64_t rank);

// Sets `out` to a value of `size` bytes that differs for each `version` (from 16 bytes on; shorter
// ones keep the version's last digits). Printable, and of varying bytes.
void make_value(std::string& out, std::size_t size, std::uint64_t version);

}  // namespace heatsink::app
