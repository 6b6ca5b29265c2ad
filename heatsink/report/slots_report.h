// SPDX-License-Identifier: Apache-2.0
// Holds the load of the nodes and slots of a cluster: what one proxy sends, and what the nodes say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace heatsink::report {

// Loads are commands per second that the proxy sends to servers, one for each key: answers from
// copies are no load, and other clients of the cluster are not seen. The other figures are the
// servers' own, of all clients (CLUSTER SLOT-STATS); NaN: not known.
struct SlotsReport {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  struct Node {
    std::string name;  // "10.0.0.1:7000"
    std::size_t slots = 0;
    double load = 0;
    double cpu = kUnknown;        // CPU time of its process, in cores
    double executing = kUnknown;  // the part of it that executes commands of its slots
    double bytes_rate = kUnknown;
    double commands_rate = kUnknown;  // executed, with keys or not
  };
  struct Slot {
    std::uint16_t slot = 0;
    std::size_t node = 0;  // in `nodes`
    double load = 0;
    std::string key{};  // its busiest hot key, as shown; "": none is known
    double key_load = 0;
    std::string tag{};  // the hash tag that its hot keys share, if there are several; "": none
    double executing = kUnknown;  // CPU time, in cores
    double bytes_rate = kUnknown;
  };
  std::vector<Node> nodes;  // the masters, by first slot
  std::vector<Slot> slots;  // the busiest ones of each node, busiest first
  bool by_cpu = false;      // the CPU time of all nodes is known, so it orders the slots
  std::string why_not{};    // why it is not, a sentence
};

}  // namespace heatsink::report
