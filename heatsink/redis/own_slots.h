// SPDX-License-Identifier: Apache-2.0
// Reads which slots of a cluster the answering node owns, from its CLUSTER NODES.
#pragma once

#include <string>
#include <string_view>

namespace heatsink::redis {

// The node's identity, its epoch and its slots, those that are on the move among them, as one
// string: it is another one if any of them has changed. "" if `nodes` has no line of its own
// ("myself"). O(length); allocates the result only.
std::string own_slots(std::string_view nodes);

}  // namespace heatsink::redis
