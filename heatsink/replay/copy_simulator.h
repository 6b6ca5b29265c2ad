// SPDX-License-Identifier: Apache-2.0
// Simulates a table of local copies of a given size: its rules, without the values.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "heatsink/base/units.h"
#include "heatsink/replay/trace.h"

namespace heatsink::replay {

inline constexpr Bytes kNoByteLimit{64ULL << 30};  // the largest cache.maximum-bytes

struct Capacity {
  std::size_t entries_max = 1000;
  Bytes bytes_max = kNoByteLimit;
  friend bool operator==(const Capacity&, const Capacity&) = default;
};

// Rules for all copies; the defaults are the proxy's.
struct CopyRules {
  Nanos expire_after_write = std::chrono::seconds(10);
  Nanos minimum_residence = std::chrono::seconds(10);
  double demote_ratio = 0.8;                    // clearly busier: by 1 / this
  Nanos retry_after = std::chrono::seconds(1);  // an evicted or refused key waits this long
  Bytes value_bytes_max = kibibytes(256);
  Bytes value_bytes_assumed{512};  // for values whose size the trace does not give
  double at_once = 1;              // commands that clients send at once (admit::TrafficShape)
};

// Bytes of all values that the trace reads.
std::uint64_t bytes_read(const Trace& trace, const CopyRules& rules);

// Memory of a copy besides its key and value: the table's entry, the copy's fields, and the framing
// of the reply.
inline constexpr std::uint64_t kCopyOverheadBytes = 330;

struct CopyTally {
  std::uint64_t hits = 0;
  std::uint64_t hit_bytes = 0;  // sizes of the values
  std::uint64_t fills = 0;      // reads that went to the server and made a copy
  std::uint64_t refills = 0;    // fills of a key that had a copy since it became hot
  std::uint64_t evictions = 0;
  std::uint64_t refused = 0;  // useless fills: too large, or no room
  std::uint64_t promotions = 0;
  std::uint64_t displaced = 0;  // entries given to busier keys
  std::uint64_t entries_peak = 0;
  std::uint64_t bytes_peak = 0;
};

// The first read after a hot key's promotion, after a write, or after its copy's expiry makes a
// copy; a write drops it. If memory runs out, copies with the lowest rate per byte are evicted
// (docs/decisions/0003). A fill takes no time. Not thread-safe. get() is one hash probe.
class CopySimulator {
 public:
  // `rates` (accesses per second, by key) decide when keys compete for room; the caller keeps them
  // up to date. `names` give the lengths of keys. Both must outlive the simulator.
  CopySimulator(const Capacity& capacity, const CopyRules& rules, const std::vector<float>& rates,
                const KeyNames& names)
      : capacity_(capacity), rules_(rules), rates_(rates), names_(names) {}

  struct Move {
    std::uint32_t key;
    bool in;  // the key got an entry; false: it lost it
  };
  // Gives entries to the keys that are hot now, busiest first, as the selector does with top-n set
  // to this capacity: when all are taken, a clearly busier key displaces the least busy one whose
  // residence is over. O(hot + entries log entries). Appends to `moves`.
  void admit(std::span<const std::uint32_t> hot, std::int64_t now_ns, std::vector<Move>& moves);
  // The key is no longer hot.
  void demote(std::uint32_t key);

  // An access; times must not decrease. Ignores keys that are not hot.
  void access(const TraceAccess& access);

  const CopyTally& tally() const { return tally_; }

 private:
  struct Entry {
    std::int64_t since_ns = 0;
    std::uint64_t copy_bytes = 0;  // 0: there is no copy
    std::int64_t expires_ns = 0;
    std::int64_t retry_ns = 0;
    bool filled_before = false;
  };
  struct Victim {
    double worth;  // accesses per second and byte
    std::uint32_t key;
  };

  std::vector<std::uint32_t> displaceable(std::int64_t now_ns) const;
  void enter(std::uint32_t key, std::int64_t now_ns, std::vector<Move>& moves);
  void get(std::uint32_t key, Entry& entry, const TraceAccess& access);
  void drop(Entry& entry);
  bool make_room(std::uint32_t key, std::uint64_t bytes, std::int64_t now_ns);
  std::vector<Victim> worth_less(std::uint32_t key, double worth) const;

  Capacity capacity_;
  CopyRules rules_;
  const std::vector<float>& rates_;
  const KeyNames& names_;
  boost::unordered_flat_map<std::uint32_t, Entry> entries_;
  std::uint64_t bytes_ = 0;
  CopyTally tally_;
};

}  // namespace heatsink::replay
