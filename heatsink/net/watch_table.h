// SPDX-License-Identifier: Apache-2.0
// Maps file descriptors to their handlers, and drops events of earlier registrations.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heatsink::net {

class FdHandler;
enum class Interest : std::uint32_t;

// Not thread-safe. The kernel returns 64 bits per event: here the descriptor's number and the
// number of its registration. So an event of an ended registration finds no handler, even if the
// descriptor's number was closed, reused and added again within one turn. (A pointer would dangle
// then.)
class WatchTable {
 public:
  struct Watch {
    FdHandler* handler = nullptr;  // nullptr: not watched
    Interest interest{};
    std::uint32_t generation = 0;
  };

  // REQUIRES fd >= 0 and not watched. Returns the tag for the kernel. Amortised O(1); 16 bytes for
  // each number up to the highest.
  std::uint64_t add(int fd, Interest interest, FdHandler& handler) {
    const auto index = static_cast<std::size_t>(fd);
    if (index >= watches_.size()) watches_.resize(index + 1);
    Watch& watch = watches_[index];
    assert(watch.handler == nullptr);
    watch = {&handler, interest, ++last_generation_};
    return tag(fd, watch);
  }
  void remove(int fd) { at(fd).handler = nullptr; }

  // REQUIRES watched.
  Watch& at(int fd) {
    assert(static_cast<std::size_t>(fd) < watches_.size());
    Watch& watch = watches_[static_cast<std::size_t>(fd)];
    assert(watch.handler != nullptr);
    return watch;
  }

  // The registration of `tag`; nullptr if it has ended. Invalidated by the next add().
  Watch* find(std::uint64_t tag) {
    const auto index = static_cast<std::size_t>(tag & 0xFFFFFFFFU);
    if (index >= watches_.size()) return nullptr;
    Watch& watch = watches_[index];
    return watch.handler != nullptr && watch.generation == tag >> 32 ? &watch : nullptr;
  }

  static std::uint64_t tag(int fd, const Watch& watch) {
    return (std::uint64_t{watch.generation} << 32) | static_cast<std::uint32_t>(fd);
  }

 private:
  std::vector<Watch> watches_;  // by number
  std::uint32_t last_generation_ = 0;
};

}  // namespace heatsink::net
