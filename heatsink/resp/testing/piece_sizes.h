// SPDX-License-Identifier: Apache-2.0
// Sizes of the pieces that a stream arrives in, at random. For properties.
#pragma once

#include <rapidcheck.h>

#include <cstddef>
#include <vector>

namespace heatsink::resp::testing {

inline rc::Gen<std::vector<std::size_t>> piece_sizes() {
  return rc::gen::nonEmpty(
      rc::gen::container<std::vector<std::size_t>>(rc::gen::inRange<std::size_t>(1, 12)));
}

}  // namespace heatsink::resp::testing
