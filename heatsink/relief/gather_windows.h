// SPDX-License-Identifier: Apache-2.0
// Decides which writes of a worker's clients wait for each other, and for how long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "heatsink/base/clock.h"
#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/command/gathered_write.h"

namespace heatsink::proxy {

// One worker's thread. Writes of one kind to one key, in one database and protocol, reach the
// server at most once per window. The first write goes at once. Writes within the window after it
// are gathered and go together when the window ends. So a key that is seldom written pays nothing.
//
// The windows need fixed memory: colliding keys overwrite each other's window, which only costs the
// server more writes. At most kGatheredMax writes are gathered at once.
class GatherWindows {
 public:
  static constexpr std::size_t kGatheredMax = 1024;

  // Identifies writes that may be combined: one kind, key, database and protocol.
  struct Group {
    std::uint64_t id = 0;
    friend bool operator==(Group, Group) = default;
  };
  static Group group_of(GatherKind kind, const GatheredWrite::Target& target);

  enum class Turn : std::uint8_t {
    kAlone,   // send the write now, by itself
    kGather,  // gather it with offer()
  };
  // Whether a write has to wait. The caller sends a kAlone write at once, and its window begins
  // here.
  Turn ask(Group group, Nanos window, TimePoint now);

  // Gathers a write and returns the end of its window. REQUIRES that ask() has just returned
  // kGather. nullopt: no room; the caller sends the write by itself. `opened`: this is the first
  // write of the window, so the caller schedules take() for that moment.
  struct Offer {
    TimePoint due;
    bool opened;
  };
  std::optional<Offer> offer(Group group, GatherKind kind, std::string_view key,
                             const GatheredWrite::Target& target, const GatheredWrite::Part& part);

  // The gathered writes, for the caller to send now; a new window begins. nullopt: none.
  std::optional<GatheredWrite> take(Group group, TimePoint now);

 private:
  struct Window {
    TimePoint until{};
    Nanos length{0};
  };
  struct HashGroup {
    std::size_t operator()(Group group) const { return group.id; }
  };
  struct Gathered {
    GatheredWrite write;
    TimePoint due;
    Nanos window;
  };

  DirectMappedTable<Group, Window, 4096, HashGroup> windows_;  // 96 KiB
  std::unordered_map<std::uint64_t, Gathered> gathered_;
};

}  // namespace heatsink::proxy
