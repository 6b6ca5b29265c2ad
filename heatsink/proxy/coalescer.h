// SPDX-License-Identifier: Apache-2.0
// Which writes of a worker wait for each other, and for how long.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "heatsink/base/clock.h"
#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/proxy/coalesced_write.h"

namespace heatsink::proxy {

// One worker's thread. A key's writes of one kind, database and protocol reach the server at most
// once per window: the first goes at once, those that come within the window behind it are gathered
// and go together when it ends. So a key that is written seldom pays nothing.
//
// Fixed memory for what was written last (colliding keys overwrite each other, which costs the
// server writes and no more), and at most kGatheredMax writes being gathered.
class Coalescer {
 public:
  static constexpr std::size_t kGatheredMax = 1024;

  // Whose turn it is: of one kind, key, database and protocol.
  struct Group {
    std::uint64_t id = 0;
    friend bool operator==(Group, Group) = default;
  };
  static Group group_of(CoalesceKind kind, const CoalescedWrite::Target& target);

  enum class Turn : std::uint8_t {
    kAlone,   // send it yourself, now
    kGather,  // offer() will take it
  };
  // Whether a write would have to wait. kAlone is taken for a write that is sent now: the window
  // begins.
  Turn ask(Group group, Nanos window, TimePoint now);

  // The end of the window that a group gathers in. REQUIRES that ask() has just said kGather.
  // nullopt: there is no room for it, send it yourself. `opened`: nobody gathered before, the
  // caller sees to it that take() is called at that moment.
  struct Offer {
    TimePoint due;
    bool opened;
  };
  std::optional<Offer> offer(Group group, CoalesceKind kind, std::string_view key,
                             const CoalescedWrite::Target& target,
                             const CoalescedWrite::Part& part);

  // What has been gathered, to be sent now; a new window begins. nullopt: nothing.
  std::optional<CoalescedWrite> take(Group group, TimePoint now);

 private:
  struct Window {
    TimePoint until{};
    Nanos length{0};
  };
  struct HashGroup {
    std::size_t operator()(Group group) const { return group.id; }
  };
  struct Gathered {
    CoalescedWrite write;
    TimePoint due;
    Nanos window;
  };

  DirectMappedTable<Group, Window, 4096, HashGroup> windows_;  // 96 KiB
  std::unordered_map<std::uint64_t, Gathered> gathered_;
};

}  // namespace heatsink::proxy
