// SPDX-License-Identifier: Apache-2.0
// Inside capture: the fixed numbers of link and network headers.
#pragma once

#include <cstdint>

namespace heatsink::capture {

inline constexpr std::uint32_t kEthernetBytes = 14;
inline constexpr std::uint32_t kIpv6Bytes = 40;
inline constexpr std::uint32_t kTcp = 6;  // its number in IP headers

}  // namespace heatsink::capture
