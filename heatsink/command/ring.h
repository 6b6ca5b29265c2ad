// SPDX-License-Identifier: Apache-2.0
// A queue in one growing block: like std::deque, but without an allocation every few elements.
#pragma once

#include <cassert>
#include <cstddef>
#include <memory>
#include <utility>

namespace heatsink::proxy {

// Not thread-safe. push_back() invalidates references.
template <class T>
class Ring {
 public:
  bool empty() const { return size_ == 0; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }

  T& front() { return (*this)[0]; }
  T& operator[](std::size_t i) {
    assert(i < size_);
    return slots_[(head_ + i) & (capacity_ - 1)];
  }

  T& push_back(T&& value) {
    if (size_ == capacity_) grow();
    T& slot = slots_[(head_ + size_) & (capacity_ - 1)];
    slot = std::move(value);
    ++size_;
    return slot;
  }

  void pop_back() {
    (*this)[size_ - 1] = T();
    --size_;
  }

  // The element stays as it is until another one takes its place. REQUIRES that it owns nothing.
  void drop_front() {
    assert(size_ > 0);
    head_ = (head_ + 1) & (capacity_ - 1);
    --size_;
  }

  T pop_front() {
    T value = std::move(front());
    head_ = (head_ + 1) & (capacity_ - 1);
    --size_;
    return value;
  }

 private:
  void grow() {
    const std::size_t capacity = capacity_ == 0 ? 8 : capacity_ * 2;
    auto bigger = std::make_unique<T[]>(capacity);
    for (std::size_t i = 0; i < size_; ++i) bigger[i] = std::move((*this)[i]);
    slots_ = std::move(bigger);
    capacity_ = capacity;
    head_ = 0;
  }

  // Not a vector, whose size() divides by the size of T: two to four times for each command.
  std::unique_ptr<T[]> slots_;
  std::size_t capacity_ = 0;  // a power of two
  std::size_t head_ = 0;
  std::size_t size_ = 0;
};

}  // namespace heatsink::proxy
