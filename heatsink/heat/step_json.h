// SPDX-License-Identifier: Apache-2.0
// Writes the numbers of a step as short JSON. Internal to the room.
#pragma once

#include <array>
#include <boost/json/value.hpp>
#include <string_view>

namespace heatsink::heat {

// The names of HeatMap::Step::totals, in their order.
inline constexpr std::array<std::string_view, 13> kTotalNames{"requests",
                                                              "reads",
                                                              "writes",
                                                              "hits",
                                                              "commands",
                                                              "server_commands",
                                                              "latency_p50_seconds",
                                                              "latency_p99_seconds",
                                                              "node_commands",
                                                              "bytes",
                                                              "server_cpu_cores",
                                                              "server_cpu_spared_cores",
                                                              "client_commands"};

// Three digits are more than a pixel shows; whole numbers stay short. Not finite: null.
boost::json::value short_number(float value);

}  // namespace heatsink::heat
