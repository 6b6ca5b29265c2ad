// SPDX-License-Identifier: Apache-2.0
// Counts the memory that OpenSSL holds: sessions, certificates, and what it keeps by itself.
#pragma once

#include <cstdint>

namespace heatsink::net {

// Counts from now on. Call it before the first use of OpenSSL; false: it is too late, and nothing
// is counted. Costs some nanoseconds for each allocation of OpenSSL.
bool count_tls_memory() noexcept;

// As the allocator counts it. Any thread.
std::uint64_t tls_memory_bytes() noexcept;

}  // namespace heatsink::net
