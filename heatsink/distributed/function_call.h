// SPDX-License-Identifier: Apache-2.0
// Defines one call of a function on the server.
#pragma once

#include <string>
#include <vector>

#include "heatsink/distributed/function_library.h"

namespace heatsink::distributed {

// Owns its data. `keys` holds all keys that the function accesses; they are in one slot.
struct FunctionCall {
  const ServerFunction* function = nullptr;
  std::vector<std::string> keys;
  std::vector<std::string> args;
};

}  // namespace heatsink::distributed
