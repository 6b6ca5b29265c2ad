// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/epochs.h"

#include <algorithm>
#include <cassert>
#include <utility>

namespace heatsink::cache {

Epochs::~Epochs() {
  for (Retired& retired : retired_) retired.free();
}

Epochs::Reader& Epochs::add_reader() {
  assert(reader_count_ < kReadersMax);
  Reader& reader = readers_[reader_count_++];
  reader.epochs_ = this;
  return reader;
}

void Epochs::retire(std::function<void()> free, std::size_t bytes) {
  // A reader that stores this number or a later one loads its pointers after the writer unlinked
  // the object, so it cannot find it any more.
  retired_.push_back({begin_grace_period(), bytes, std::move(free)});
  retired_bytes_ += bytes;
}

std::uint64_t Epochs::oldest() const {
  std::uint64_t oldest = current_.load();
  for (std::size_t i = 0; i < reader_count_; ++i) {
    const std::uint64_t seen = readers_[i].seen_.load();
    if (seen != kOffline) oldest = std::min(oldest, seen);
  }
  return oldest;
}

void Epochs::collect() {
  const std::uint64_t reached = oldest();
  while (!retired_.empty() && retired_.front().epoch <= reached) {
    // Removed before the call, because `free` may retire more objects.
    const std::function<void()> free = std::move(retired_.front().free);
    retired_bytes_ -= retired_.front().bytes;
    retired_.pop_front();
    free();
  }
}

}  // namespace heatsink::cache
