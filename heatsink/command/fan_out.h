// SPDX-License-Identifier: Apache-2.0
// Says which commands the proxy executes in parts on several nodes of a cluster, and how the
// replies become one.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace heatsink::proxy {

// The kinds of parts that a command is split into.
enum class FanOut : std::uint8_t {
  kNone,     // one node executes it as a whole
  kByKey,    // each slot's keys: MGET, DEL; the arguments before the first key go to each part
  kByPair,   // each slot's keys with their values: MSET
  kMasters,  // the same command to every master
  kCursor,   // one master after the other: SCAN
};

// How the replies of the parts become one. If a part fails, its error is the reply.
enum class Join : std::uint8_t {
  kSum,        // of integers
  kPositions,  // arrays with an element for each key, in the order of the keys
  kOk,         // the first reply, if none is an error
  kConcat,     // of arrays
  kUnion,      // of arrays, each element once (PUBSUB CHANNELS)
  kNamedSums,  // arrays of names and integers: the sum for each name (PUBSUB NUMSUB)
  kMost,       // of integers (ACL DELUSER: a node may know fewer of the users)
  kRunning,    // the reply of a node that runs a script, else the first (FUNCTION STATS)
  kAll,        // arrays of integers: 1 where all have 1 (SCRIPT EXISTS)
  kAnyOk,      // the first reply that is no error (SCRIPT KILL)
  kRandomOne,  // a reply that is not null (RANDOMKEY)
  kCounter,    // of the texts of integers, or null (GET of a counter in parts)
  kAnyOne,     // of integers: 1 if one of them is not 0 (EXISTS of a counter in parts)
};

struct FanOutRow {
  std::string_view name;  // of the command
  FanOut fan_out = FanOut::kNone;
  Join join = Join::kOk;
};

// Null: one node executes it. A linear search: keep the result. docs/guides/clusters.md lists what
// such a command says then.
const FanOutRow* fan_out_of(std::string_view command);

// Whether CONFIG SET names a setting that must differ between the nodes, such as an address. Then
// one node gets it.
bool sets_one_node(std::span<const std::string_view> args);

}  // namespace heatsink::proxy
