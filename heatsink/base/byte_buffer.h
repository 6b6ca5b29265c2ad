// SPDX-License-Identifier: Apache-2.0
// A growable buffer of bytes: written at the back, consumed at the front.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string_view>

namespace heatsink {

// Not thread-safe. Any non-const call invalidates views of the content. An empty buffer that never
// grew owns no memory. Appending is amortised O(1) per byte; consuming moves no bytes until the
// space before the content is needed again.
class ByteBuffer {
 public:
  ByteBuffer() = default;
  ByteBuffer(ByteBuffer&& other) noexcept { swap(other); }
  ByteBuffer& operator=(ByteBuffer&& other) noexcept {
    ByteBuffer moved(std::move(other));
    swap(moved);
    return *this;
  }

  bool empty() const { return begin_ == end_; }
  std::size_t size() const { return end_ - begin_; }
  std::size_t capacity() const { return capacity_; }
  const char* data() const { return bytes_.get() + begin_; }
  std::string_view view() const { return {data(), size()}; }

  void append(std::string_view bytes) {
    if (bytes.empty()) return;
    std::memcpy(prepare(bytes.size()), bytes.data(), bytes.size());
    commit(bytes.size());
  }
  void append(char byte) {
    *prepare(1) = byte;
    commit(1);
  }

  // Makes room for at least `n` bytes after the content; commit() then adds the bytes written
  // there.
  char* prepare(std::size_t n) {
    if (capacity_ - end_ < n) grow(n);
    return bytes_.get() + end_;
  }
  void commit(std::size_t n) {
    assert(n <= capacity_ - end_);
    end_ += n;
  }

  void consume(std::size_t n) {
    assert(n <= size());
    begin_ += n;
    if (begin_ == end_) begin_ = end_ = 0;
  }
  void clear() { begin_ = end_ = 0; }

  // Frees the memory, and with it the content.
  void release() {
    bytes_.reset();
    begin_ = end_ = capacity_ = 0;
  }

  void swap(ByteBuffer& other) noexcept {
    bytes_.swap(other.bytes_);
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(capacity_, other.capacity_);
  }

 private:
  void grow(std::size_t n);

  std::unique_ptr<char[]> bytes_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace heatsink
