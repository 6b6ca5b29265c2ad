// SPDX-License-Identifier: Apache-2.0
// Maps file descriptors to their handlers, and drops events that were fetched for an earlier one.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heatsink::net {

class FdHandler;
enum class Interest : std::uint32_t;

// Not thread-safe. The kernel hands back 64 bits per event; they carry the number of the descriptor
// and of its registration. An event of a registration that ended, even if the same number was
// closed, given out again and added again within one turn, finds nobody. (A pointer there would be
// that turn's dangling one.)
class WatchTable {
 public:
  struct Watch {
    FdHandler* handler = nullptr;  // nullptr: not watched
    Interest interest{};
    std::uint32_t generation = 0;
  };

  // REQUIRES fd >= 0, not watched. Returns what the kernel is to hand back. Amortised O(1), 16
  // bytes for each number up to the highest.
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

  // The registration that made `tag`; nullptr when it has ended. Dies with the next add().
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
