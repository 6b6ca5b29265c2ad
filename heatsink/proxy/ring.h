// SPDX-License-Identifier: Apache-2.0
// A queue in one growing block: like std::deque, but without an allocation every few elements.
#pragma once

#include <cassert>
#include <cstddef>
#include <utility>
#include <vector>

namespace heatsink::proxy {

// Not thread-safe. push_back() invalidates references.
template <class T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return slots_.size(); }

  T& front() { return (*this)[0]; }
  T& operator[](std::size_t i) {
    assert(i < size_);
    return slots_[(head_ + i) & (slots_.size() - 1)];
  }

  T& push_back(T&& value) {
    if (size_ == slots_.size()) grow();
    T& slot = slots_[(head_ + size_) & (slots_.size() - 1)];
    slot = std::move(value);
    ++size_;
    return slot;
  }

  T pop_front() {
    T value = std::move(front());
    head_ = (head_ + 1) & (slots_.size() - 1);
    --size_;
    return value;
  }

 private:
  void grow() {
    std::vector<T> bigger(slots_.empty() ? 8 : slots_.size() * 2);
    for (std::size_t i = 0; i < size_; ++i) bigger[i] = std::move((*this)[i]);
    slots_ = std::move(bigger);
    head_ = 0;
  }

  std::vector<T> slots_;  // size: a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace heatsink::proxy
