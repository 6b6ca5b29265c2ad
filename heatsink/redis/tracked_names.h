// SPDX-License-Identifier: Apache-2.0
// Counts the names that the server remembers for one tracking connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>

namespace heatsink::redis {

// A connection with CLIENT TRACKING makes the server remember each name that it reads, until the
// server pushes a change of that name. All connections share one table (tracking-table-max-keys).
// The server forgets no name when a connection ends, and beyond its limit it evicts the names of
// any connection. So the tracker limits its names before it reads them. Names with equal hashes
// count as one.
//
// One thread. O(1) per call, about 40 bytes per name.
class TrackedNames {
 public:
  explicit TrackedNames(std::size_t max) : max_(max) {}

  void set_max(std::size_t max) { max_ = max; }  // of names from now on

  // Call it before the name is read. False: `max` other names are tracked, so it must not be read.
  bool admit(std::string_view name);
  void forget(std::string_view name);  // the server has pushed a change of the name
  void clear() { hashes_.clear(); }
  std::size_t size() const { return hashes_.size(); }

 private:
  std::size_t max_;
  std::unordered_set<std::uint64_t> hashes_;
};

}  // namespace heatsink::redis
