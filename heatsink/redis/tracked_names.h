// SPDX-License-Identifier: Apache-2.0
// Counts the names that the server remembers for one tracking connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <unordered_set>

namespace heatsink::redis {

// A server notes each name that is read on a connection with CLIENT TRACKING until it has told of a
// change of it, in one table for all connections (tracking-table-max-keys). It forgets none when
// the connection ends, and past its limit drops those of anybody: so the names are bounded here,
// before they are read. By hash: two names of one hash count as one.
//
// One thread. O(1) per call, about 40 bytes per name.
class TrackedNames {
 public:
  explicit TrackedNames(std::size_t max) : max_(max) {}

  // The name is about to be read. False: it must not be, there are `max` others.
  bool admit(std::string_view name);
  void forget(std::string_view name);  // the server has told of a change
  void clear() { hashes_.clear(); }
  std::size_t size() const { return hashes_.size(); }

 private:
  const std::size_t max_;
  std::unordered_set<std::uint64_t> hashes_;
};

}  // namespace heatsink::redis
