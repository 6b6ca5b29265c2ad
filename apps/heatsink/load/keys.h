// SPDX-License-Identifier: Apache-2.0
// The keys and values of the load: names that look like an application's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace heatsink::app {

// A different name for every rank, always the same: "product:1000:price" is rank 0, the busiest.
std::string key_name(std::uint64_t rank);

// Sets `out` to a value of `size` bytes that differs for each `version` (of 16 bytes or more;
// shorter ones keep the version's last digits). Printable, and not the same byte all over.
void make_value(std::string& out, std::size_t size, std::uint64_t version);

}  // namespace heatsink::app
