// SPDX-License-Identifier: Apache-2.0
// Doubly linked queues of keys, by number, over one shared array of links.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace heatsink::bench {

inline constexpr std::uint32_t kNoKey = UINT32_MAX;

struct KeyLink {
  std::uint32_t newer = kNoKey;
  std::uint32_t older = kNoKey;
};

// A key is in at most one of the queues that share an array. All operations are O(1).
class KeyQueue {
 public:
  explicit KeyQueue(std::vector<KeyLink>& links) : links_(&links) {}

  std::size_t size() const { return size_; }
  std::uint32_t oldest() const { return oldest_; }
  std::uint32_t newer(std::uint32_t key) const { return (*links_)[key].newer; }

  void push(std::uint32_t key) {
    (*links_)[key] = {kNoKey, newest_};
    if (newest_ != kNoKey) (*links_)[newest_].newer = key;
    newest_ = key;
    if (oldest_ == kNoKey) oldest_ = key;
    ++size_;
  }

  void erase(std::uint32_t key) {
    const KeyLink link = (*links_)[key];
    (link.newer == kNoKey ? newest_ : (*links_)[link.newer].older) = link.older;
    (link.older == kNoKey ? oldest_ : (*links_)[link.older].newer) = link.newer;
    --size_;
  }

  std::uint32_t pop() {
    const std::uint32_t key = oldest_;
    erase(key);
    return key;
  }

  void renew(std::uint32_t key) {
    erase(key);
    push(key);
  }

 private:
  std::vector<KeyLink>* links_;
  std::uint32_t newest_ = kNoKey;
  std::uint32_t oldest_ = kNoKey;
  std::size_t size_ = 0;
};

}  // namespace heatsink::bench
