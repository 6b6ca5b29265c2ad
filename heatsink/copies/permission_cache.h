// SPDX-License-Identifier: Apache-2.0
// What the server has let which user do, not long ago: without that nobody but the proxy's own user
// is given a copy (docs/decisions/0012-rights-are-proven-by-reading.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "heatsink/base/clock.h"
#include "heatsink/base/direct_mapped_table.h"
#include "heatsink/base/hash.h"

namespace heatsink::copies {

// That a user may run a command on these keys. Of several keys it is the right to all of them in
// one command: Redis wants one selector of the user to allow all.
struct Right {
  std::uint64_t user = 0;  // the hash of his name
  std::uint64_t keys = 0;  // the hashes of the keys, in order
  std::uint16_t command = 0;

  void add_key(KeyHash key) { keys = keys * 0x9E3779B97F4A7C15ULL + key.value; }
  friend bool operator==(const Right&, const Right&) = default;
};

// A question to the server whose answer proves or refutes it.
struct AskedRight {
  Right right;
  TimePoint asked_at;  // read before it was sent
};

// One worker's thread. A fixed number of places, allocated when the first right is proven (160
// KiB). Colliding rights overwrite each other, which costs questions and no more.
class PermissionCache {
 public:
  enum class Answer : std::uint8_t {
    kProven,
    kAgeing,  // proven, and this caller is to ask again meanwhile
    kUnproven,
  };

  // A proof is good for `life`.
  explicit PermissionCache(Nanos life) : life_(life) {}

  // `changed_at`: what was asked then or before counts no longer.
  Answer look_up(const Right& right, TimePoint now, TimePoint changed_at);
  void record(const AskedRight& asked, bool allowed);

 private:
  struct Proof {
    TimePoint asked_at{};
    TimePoint renewed_at{};  // when somebody was last told to ask again
  };

  struct HashRight {
    std::size_t operator()(const Right& right) const {
      return ((right.user ^ right.keys) * 0x9E3779B97F4A7C15ULL + right.command) >> 32U;
    }
  };
  using Table = DirectMappedTable<Right, Proof, 4096, HashRight>;

  const Nanos life_;
  std::unique_ptr<Table> permissions_;  // null: no right is proven yet
};

}  // namespace heatsink::copies
