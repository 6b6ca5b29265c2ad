// SPDX-License-Identifier: Apache-2.0
// Counts the names that the server remembers for one tracking connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace heatsink::redis {

// A connection with CLIENT TRACKING makes the server remember each name that it reads, until the
// server pushes a change of that name. All connections share one table (tracking-table-max-keys).
// The server forgets no name when a connection ends, and beyond its limit it evicts the names of
// any connection. So the tracker limits its names before it reads them. Names with equal hashes
// count as one.
//
// One thread. O(1) per call, amortised, and one access to memory as a rule: the hashes stand in one
// block, of 11 to 22 bytes per name.
class TrackedNames {
 public:
  explicit TrackedNames(std::size_t max) : max_(max) {}

  void set_max(std::size_t max) { max_ = max; }  // of names from now on

  // Call it before the name is read. False: `max` other names are tracked, so it must not be read.
  bool admit(std::string_view name);
  void forget(std::string_view name);  // the server has pushed a change of the name
  void clear();
  std::size_t size() const { return size_; }

 private:
  std::size_t place_of(std::uint64_t hash) const;
  void grow();

  std::size_t max_;
  std::size_t size_ = 0;
  // 0: free. A hash stands at its home, or behind it where no place between the two is free.
  std::vector<std::uint64_t> places_;
};

}  // namespace heatsink::redis
