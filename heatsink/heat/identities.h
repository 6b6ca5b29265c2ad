// SPDX-License-Identifier: Apache-2.0
// Gives the names of keys, templates, slots, nodes and clients small numbers, so that a column can
// hold many of them.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/heat/column.h"

namespace heatsink::heat {

// Not thread-safe. Holds at most `max` identities; when it is full, the owner must free some.
class Identities {
 public:
  explicit Identities(std::size_t max) : max_(max) {}

  // The number of this identity, new or known. Nothing: it is new, and all numbers are taken.
  std::optional<IdentityId> number_of(const Identity& identity);
  // REQUIRES a number in use.
  const Identity& operator[](IdentityId id) const { return all_[id]; }
  Kind kind(IdentityId id) const { return all_[id].kind; }
  void free(IdentityId id);

  std::size_t size() const { return numbers_.size(); }
  std::size_t numbers() const { return all_.size(); }  // each id in use is below it
  bool is_used(IdentityId id) const { return used_[id]; }
  std::size_t bytes() const { return bytes_; }  // of the names, approximate

 private:
  static std::string key_of(const Identity& identity);

  std::size_t max_;
  std::vector<Identity> all_;
  std::vector<bool> used_;
  std::vector<IdentityId> free_;
  boost::unordered_flat_map<std::string, IdentityId> numbers_;
  std::size_t bytes_ = 0;
};

}  // namespace heatsink::heat
