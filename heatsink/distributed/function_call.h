// SPDX-License-Identifier: Apache-2.0
// One call of a function on the server.
#pragma once

#include <string>
#include <vector>

#include "heatsink/distributed/function_library.h"

namespace heatsink::distributed {

// Owns its data. `keys` are all keys that the function touches; they lie in one slot.
struct FunctionCall {
  const ServerFunction* function = nullptr;
  std::vector<std::string> keys;
  std::vector<std::string> args;
};

}  // namespace heatsink::distributed
