// SPDX-License-Identifier: Apache-2.0
// Extracts the slots that the answering cluster node owns from its reply to CLUSTER NODES.
#pragma once

#include <string>
#include <string_view>

namespace heatsink::redis {

// Returns the node's id, its epoch and its slots (with those that are migrating) as one string,
// which differs after any change of them. "" if `nodes` has no line for the node itself ("myself").
// O(length); allocates only the result.
std::string own_slots(std::string_view nodes);

}  // namespace heatsink::redis
