// SPDX-License-Identifier: Apache-2.0
// Remembers which users the server has recently allowed which reads. Without that, only the proxy's
// own user gets a copy (docs/decisions/0012-rights-are-proven-by-reading.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/base/hash.h"

namespace heatsink::copies {

// The right of a user to run a command on these keys. Several keys need the right to all of them in
// one command: Redis requires one selector of the user to allow all.
struct Right {
  std::uint64_t user = 0;  // the hash of the user's name
  std::uint64_t keys = 0;  // the hashes of the keys, in order
  std::uint16_t command = 0;

  void add_key(KeyHash key) { keys = keys * 0x9E3779B97F4A7C15ULL + key.value; }
  friend bool operator==(const Right&, const Right&) = default;
};

// A command sent to the server whose reply proves or refutes a right.
struct AskedRight {
  Right right;
  TimePoint asked_at;  // read before the command was sent
};

// One worker's thread. A fixed table, allocated when the first right is proven (160 KiB). Colliding
// rights overwrite each other, which only costs extra commands.
class PermissionCache {
 public:
  enum class Answer : std::uint8_t {
    kProven,
    kAgeing,  // proven, but this caller should ask the server again meanwhile
    kUnproven,
  };

  // A proven right is valid for `life`.
  explicit PermissionCache(Nanos life) : life_(life) {}

  void set_life(Nanos life) { life_ = life; }  // from now on, also of what is proven already

  // Rights proven at `changed_at` or earlier count no longer.
  Answer look_up(const Right& right, TimePoint now, TimePoint changed_at);
  void record(const AskedRight& asked, bool allowed);

 private:
  struct Proof {
    TimePoint asked_at{};
    TimePoint renewed_at{};  // when a caller last got kAgeing
  };

  struct HashRight {
    std::size_t operator()(const Right& right) const {
      return ((right.user ^ right.keys) * 0x9E3779B97F4A7C15ULL + right.command) >> 32U;
    }
  };
  using Table = DirectMappedTable<Right, Proof, 4096, HashRight>;

  Nanos life_;
  std::unique_ptr<Table> permissions_;  // null: no right is proven yet
};

}  // namespace heatsink::copies
