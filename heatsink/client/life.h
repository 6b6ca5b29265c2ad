// SPDX-License-Identifier: Apache-2.0
// Says whether a Core has ended for this process.
#pragma once

#include <atomic>

namespace heatsink::client {

// Core writes it; its parts read it, in any thread. Neither flag goes back to false.
struct Life {
  std::atomic<bool> is_in_forked_child{false};  // no thread of the Core exists; locks may be held
  std::atomic<bool> is_closed{false};           // close() has begun: nothing is kept any more
};

}  // namespace heatsink::client
