// SPDX-License-Identifier: Apache-2.0
// Remembers how young the copies are that a client of a cluster has been shown, node by node.
#pragma once

#include <algorithm>

#include "heatsink/base/clock.h"
#include "heatsink/cache/cache.h"

namespace heatsink::proxy {

// For Level::kSession. The trackers of two nodes have no common order: a copy of one node may be
// younger than the latest invalidation that has come from another one. So once a client has been
// shown a copy, copies of other nodes must have been proven since that one was filled. Copies of
// the same node are in the order of its tracker. One thread; O(1).
class ShownCopies {
 public:
  // A copy of this node, whose fill had been answered by then. REQUIRES node != 0: copies of a
  // single server need no note.
  void note(cache::ProofIndex node, TimePoint answered_at) {
    if (node == node_) {
      latest_ = std::max(latest_, answered_at);
    } else if (answered_at > latest_) {
      of_others_ = latest_;
      latest_ = answered_at;
      node_ = node;
    } else {
      of_others_ = std::max(of_others_, answered_at);
    }
  }
  // A copy of this node must have been proven after that.
  TimePoint fence(cache::ProofIndex node) const { return node == node_ ? of_others_ : latest_; }
  TimePoint latest() const { return latest_; }

 private:
  cache::ProofIndex node_ = 0;  // of the youngest
  TimePoint latest_{};
  TimePoint of_others_{};  // at least that of the youngest of all other nodes
};

}  // namespace heatsink::proxy
