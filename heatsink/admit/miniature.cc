// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/miniature.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <utility>

namespace heatsink::admit {

Miniature::Miniature(const Choice& choice, std::size_t copies)
    : choice_(choice),
      copies_max_(copies),
      remembered_max_(copies * choice.history),
      nodes_(copies + remembered_max_ + 1),
      buckets_(std::bit_ceil(nodes_.size()), kNone) {
  assert(choice.reads != Choice::kNever && nodes_.size() < kNone);
  for (std::size_t i = 0; i + 1 < nodes_.size(); ++i) nodes_[i].chain = static_cast<Index>(i + 1);
}

void Miniature::set_costs(const Costs& costs, Nanos life) {
  reads_to_pay_ = costs.reads_to_pay;
  pause_max_ =
      choice_.pace == Choice::kAnyPace ? Nanos::max() : choice_.pace * pay_pause(life, costs);
}

Miniature::Counts Miniature::take_counts() { return std::exchange(counts_, Counts{}); }

void Miniature::read(std::uint32_t key, TimePoint now, Nanos life) {
  ++counts_.reads;
  Index node = find(key);
  if (node == kNone) node = make(key);
  Node& read = nodes_[node];
  if (!read.has_copy) return miss(node, now, life);
  read.visited = true;
  if (now < read.time) {
    read.reads = static_cast<std::uint8_t>(std::min(read.reads + 1, UINT8_MAX));
    ++counts_.hits;
    return;
  }
  // A copy whose time is over is filled again by the next read if it was worth its fill.
  const bool is_over = read.time > TimePoint::min();
  if (!is_over || !Costs{.reads_to_pay = reads_to_pay_}.earns_again(read.reads))
    return fill(read, now, life);
  drop_copy(node);
  miss(make(key), now, life);
}

void Miniature::fill(Node& node, TimePoint now, Nanos life) {
  ++counts_.fills;
  node.reads = 0;
  node.time = now + life;
}

void Miniature::count(Node& node, TimePoint now) {
  ++misses_;
  const bool is_recent =
      node.reads > 0 && misses_ - node.at <= remembered_max_ && now - node.time <= pause_max_;
  node.at = misses_;
  node.time = now;
  node.reads = static_cast<std::uint8_t>(is_recent ? node.reads + 1 : 1);
}

void Miniature::miss(Index node, TimePoint now, Nanos life) {
  Node& read = nodes_[node];
  count(read, now);
  remove(history_, node);
  if (read.reads < choice_.reads_if(queue_.size < copies_max_)) return push(history_, node);
  if (queue_.size >= copies_max_) evict();
  read.has_copy = true;
  read.visited = false;
  fill(read, now, life);
  push(queue_, node);
}

void Miniature::write(std::uint32_t key) {
  const Index node = find(key);
  if (node == kNone) return;
  Node& written = nodes_[node];
  if (written.has_copy) {
    counts_.ended += written.time > TimePoint::min() ? 1U : 0U;
    // A copy that was worth its fill is filled again by the next read.
    if (written.reads < reads_to_pay_) return drop_copy(node);
    written.time = TimePoint::min();
  } else {
    remove(history_, node);
    free(node);
  }
}

void Miniature::drop_copy(Index node) {
  if (hand_ == node) hand_ = nodes_[node].younger;
  remove(queue_, node);
  free(node);
}

void Miniature::evict() { drop_copy(next_victim()); }

Miniature::Index Miniature::next_victim() {
  if (choice_.order == EvictionOrder::kClock) {
    while (nodes_[queue_.oldest].visited) {
      const Index spared = queue_.oldest;
      nodes_[spared].visited = false;
      remove(queue_, spared);
      push(queue_, spared);
    }
    return queue_.oldest;
  }
  if (hand_ == kNone) hand_ = queue_.oldest;
  while (nodes_[hand_].visited) {
    nodes_[hand_].visited = false;
    hand_ = nodes_[hand_].younger;
    if (hand_ == kNone) hand_ = queue_.oldest;
  }
  return hand_;
}

// ---- the nodes

Miniature::Index Miniature::find(std::uint32_t key) const {
  Index node = buckets_[bucket_of(key)];
  while (node != kNone && nodes_[node].key != key) node = nodes_[node].chain;
  return node;
}

// A new key is in the history; the oldest one there leaves for it.
Miniature::Index Miniature::make(std::uint32_t key) {
  if (history_.size >= remembered_max_) {
    const Index oldest = history_.oldest;
    remove(history_, oldest);
    free(oldest);
  }
  const Index node = free_;
  free_ = nodes_[node].chain;
  Index& bucket = buckets_[bucket_of(key)];
  nodes_[node] = Node{.key = key, .chain = bucket};
  bucket = node;
  push(history_, node);
  return node;
}

void Miniature::free(Index node) {
  Index* link = &buckets_[bucket_of(nodes_[node].key)];
  while (*link != node) link = &nodes_[*link].chain;
  *link = nodes_[node].chain;
  nodes_[node].chain = free_;
  free_ = node;
}

void Miniature::push(List& list, Index node) {
  Node& pushed = nodes_[node];
  pushed.older = list.youngest;
  pushed.younger = kNone;
  (list.youngest == kNone ? list.oldest : nodes_[list.youngest].younger) = node;
  list.youngest = node;
  ++list.size;
}

void Miniature::remove(List& list, Index node) {
  const Node& removed = nodes_[node];
  (removed.older == kNone ? list.oldest : nodes_[removed.older].younger) = removed.younger;
  (removed.younger == kNone ? list.youngest : nodes_[removed.younger].older) = removed.older;
  --list.size;
}

}  // namespace heatsink::admit
