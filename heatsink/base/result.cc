// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/result.h"

#include <cstdio>
#include <cstdlib>

namespace heatsink {

void end_without_value(const Error& error) noexcept {
  std::fprintf(stderr,
               "heatsink: internal fault, please report it: "
               "a result was used as a value but holds an error: %s\n",
               error.message.c_str());
  std::abort();
}

}  // namespace heatsink
