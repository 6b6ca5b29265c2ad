// SPDX-License-Identifier: Apache-2.0
// For properties: random sizes of the pieces in which a stream arrives.
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
