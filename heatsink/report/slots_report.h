// SPDX-License-Identifier: Apache-2.0
// Holds the load of the nodes and slots of a cluster, as one proxy causes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace heatsink::report {

// Loads are commands per second that the proxy sends to servers, one for each key: answers from
// copies are no load, and other clients of the cluster are not seen.
struct SlotsReport {
  struct Node {
    std::string name;  // "10.0.0.1:7000"
    std::size_t slots = 0;
    double load = 0;
  };
  struct Slot {
    std::uint16_t slot = 0;
    std::size_t node = 0;  // in `nodes`
    double load = 0;
    std::string key{};  // its busiest hot key, as shown; "": none is known
    double key_load = 0;
    std::string tag{};  // the hash tag that its hot keys share, if there are several; "": none
  };
  std::vector<Node> nodes;  // the masters, by first slot
  std::vector<Slot> slots;  // the busiest ones of each node, busiest first
};

}  // namespace heatsink::report
