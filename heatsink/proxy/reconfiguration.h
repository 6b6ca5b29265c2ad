// SPDX-License-Identifier: Apache-2.0
// Carries a new configuration to the keeper and all workers of a proxy.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "heatsink/copies/policy_snapshot.h"

namespace heatsink::copies {
class CopyKeeper;
}  // namespace heatsink::copies

namespace heatsink::proxy {

class Worker;

// Returns at once. First the keeper publishes `next` and changes the hot table; then each worker
// follows in a turn of its own. Calls `done` once, in the thread of the last worker. A worker's
// turn before that one is over by then, and it is the last in which the worker could look at a copy
// or a rule of the configuration before. So for each request that reaches the proxy after `done`,
// `next` alone counts. One change at a time: the next one waits for `done`.
void reconfigure(copies::CopyKeeper& keeper, std::span<Worker* const> workers,
                 std::shared_ptr<const copies::PolicySnapshot> next, std::function<void()> done);

}  // namespace heatsink::proxy
