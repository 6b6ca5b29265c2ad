// SPDX-License-Identifier: Apache-2.0
// Adds up the parts of a split counter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace heatsink::spread {

// Exact for at most 2^31 parts, in any order: parts whose sum is an int64 never overflow on the
// way. A part is what Redis takes for an integer (resp::parse_decimal), or does not exist.
class PartSum {
 public:
  void add(std::string_view text);

  enum class State : std::uint8_t {
    kNone,        // no part exists
    kSum,         // value()
    kNotInteger,  // a part is something else
    kTooLarge,    // the sum is no int64, which Redis could not store either
  };
  State state() const;
  std::int64_t value() const;  // REQUIRES state() == kSum

 private:
  // The sum is high_ * 2^32 + low_.
  std::int64_t high_ = 0, low_ = 0;
  std::size_t parts_ = 0;
  bool is_broken_ = false;
};

}  // namespace heatsink::spread
