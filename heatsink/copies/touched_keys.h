// SPDX-License-Identifier: Apache-2.0
// The keys of one command in flight, as hashes, to be fenced when its reply arrives.
#pragma once

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "heatsink/base/hash.h"

namespace heatsink::copies {

struct TouchedKey {
  NameHash name;
  KeyHash key;
  bool write = false;
};

// The first key needs no allocation. Movable.
class TouchedKeys {
 public:
  void add(const TouchedKey& key) {
    has_writes_ |= key.write;
    if (count_++ == 0) {
      // One by one: copied as a whole, they would be read wider than they have just been written,
      // and the processor would wait for the store.
      first_.name = key.name;
      first_.key = key.key;
      first_.write = key.write;
      return;
    }
    if (!rest_) rest_ = std::make_unique<std::vector<TouchedKey>>();
    rest_->push_back(key);
  }

  std::size_t size() const { return count_; }
  bool has_writes() const { return has_writes_; }

  template <class Visit>
  void for_each(Visit visit) const {
    if (count_ == 0) return;
    visit(first_);
    if (!rest_) return;
    for (const TouchedKey& key : *rest_) visit(key);
  }

  void append(const TouchedKeys& other) {
    other.for_each([this](const TouchedKey& key) { add(key); });
  }

 private:
  std::size_t count_ = 0;
  bool has_writes_ = false;
  TouchedKey first_;
  std::unique_ptr<std::vector<TouchedKey>> rest_;
};

}  // namespace heatsink::copies
