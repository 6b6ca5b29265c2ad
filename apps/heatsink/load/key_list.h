// SPDX-License-Identifier: Apache-2.0
// Makes the keys and values of a load, and holds the keys of a user's file in the order in which
// the load plays them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"

namespace heatsink::app {

// One key per line. A line's '\r' at its end is dropped; empty lines are skipped. Immutable:
// thread-safe. Takes the file's size, and 4 bytes per line and about 60 per distinct key.
class KeyList {
 public:
  static constexpr std::size_t kFileBytesMax = std::size_t{1} << 30U;

  static Result<std::shared_ptr<const KeyList>> read(const std::string& path,
                                                     std::size_t bytes_max = kFileBytesMax);
  explicit KeyList(std::string text);
  KeyList(const KeyList&) = delete;

  std::size_t length() const { return order_.size(); }    // lines with a key
  std::size_t distinct() const { return names_.size(); }  // different keys; their ranks are below
  // REQUIRES: position < length().
  std::uint64_t rank_at(std::size_t position) const { return order_[position]; }
  // The view lives as long as the list. REQUIRES: rank < distinct().
  std::string_view name(std::uint64_t rank) const { return names_[rank]; }

 private:
  const std::string text_;
  std::vector<std::string_view> names_;  // into text_, in the order of their first line
  std::vector<std::uint32_t> order_;     // ranks; a file of kFileBytesMax has no more than 2^30
};

// Names of keys like an application's, for a load without a file. A fixed, distinct name for each
// rank: "product:1000:price" is rank 0, the busiest.
std::string key_name(std::uint64_t rank);

// Sets `out` to a value of `size` bytes that differs for each `version` (from 16 bytes on; shorter
// ones keep the version's last digits). Printable, and of varying bytes.
void make_value(std::string& out, std::size_t size, std::uint64_t version);

}  // namespace heatsink::app
