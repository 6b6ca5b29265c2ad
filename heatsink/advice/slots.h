// SPDX-License-Identifier: Apache-2.0
// Judges how a cluster's load is spread over its nodes and slots: would moving slots help, or is it
// one key?
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace heatsink::advice {

// Loads are in any one unit per second: requests that reach the servers, or their CPU time.
struct SlotLoad {
  std::uint16_t slot = 0;
  double load = 0;
  std::size_t node = 0;  // in ClusterLoad::nodes
  std::string key{};     // its hottest key as displayed; "": none is known
  double key_load = 0;   // of that key
  std::string tag{};     // the hash tag that its known keys share; "": none
  // The part of `load` that the commands of this proxy explain; NaN: not known. Used only if the
  // load is that of all clients (ClusterLoad::is_cpu).
  double explained = std::numeric_limits<double>::quiet_NaN();
};

struct NodeLoad {
  std::string name;
  double load = 0;  // of all of its slots, listed or not
};

struct ClusterLoad {
  std::vector<NodeLoad> nodes;  // masters; one: no cluster
  std::vector<SlotLoad> slots;  // the busiest ones of each node
  bool is_cpu = false;          // CPU time as the servers say, of all clients
};

// The servers' figures of all clients, in the order of a ClusterLoad.
struct CpuTime {
  struct Node {
    double cores = 0;          // CPU time of its process per time
    double commands_rate = 0;  // that the node executes; NaN: not known
  };
  std::vector<Node> nodes;
  std::vector<double> shares;  // of its node's CPU time, by slot; NaN: not known
};
// The load in ms of CPU time per second. `commands`: what this proxy sends, per second. The servers
// do not say what a key costs, so the commands of this proxy are taken to cost the node's mean.
// REQUIRES the same nodes and slots in both.
ClusterLoad in_cpu_time(ClusterLoad commands, const CpuTime& cpu);

// How uneven the nodes are. 1 and 0: even, or there is no load.
struct Imbalance {
  double max_to_mean = 1;
  double variation = 0;  // standard deviation / mean
  std::size_t busiest = 0;
};
Imbalance imbalance_of(const std::vector<NodeLoad>& nodes);  // O(nodes); REQUIRES nodes

enum class SlotAdviceKind : std::uint8_t {
  kEven,     // nothing to do
  kOneKey,   // one key makes a slot hot: moving the slot moves the problem
  kOneTag,   // keys of one hash tag, or too many keys, make a slot hot, and a slot cannot be split
  kUnseen,   // commands that this proxy does not send make a slot hot: its keys are not known
  kMove,     // these slots, from one node to another
  kNothing,  // uneven, but no known slot helps
};
const char* to_string(
    SlotAdviceKind kind);  // "even", "one-key", "one-slot", "unseen", "move", "unknown"

struct SlotAdvice {
  SlotAdviceKind kind;
  std::string text;                         // one sentence with numbers
  std::vector<std::uint16_t> slots{};       // that it is about
  std::optional<std::size_t> from{}, to{};  // of kMove
};

// A node with at most this much more than the mean is no reason to move slots: that costs more than
// it gains.
inline constexpr double kEvenEnough = 1.2;
// A slot that is this part of its node is worth a sentence.
inline constexpr double kHotSlotPart = 0.2;
// A key with this part of its slot is the slot's problem.
inline constexpr double kOneKeyPart = 0.5;
// If the commands of this proxy explain less of a slot, it does not know the slot's keys.
inline constexpr double kExplainedPart = 0.5;
inline constexpr std::size_t kSlotMovesMax = 64;

// First what one key or one tag causes, then the moves. Hot slots of one key stay where they are.
// The moves bring each node as near to the mean as the listed slots allow: from the busiest node to
// the least busy one, the largest slot that fits first. Pure; O(moves * slots).
std::vector<SlotAdvice> advise_slots(const ClusterLoad& cluster);

}  // namespace heatsink::advice
