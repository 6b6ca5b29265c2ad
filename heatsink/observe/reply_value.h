// SPDX-License-Identifier: Apache-2.0
// Inside observe: predicates on the values of replies.
#pragma once

#include "heatsink/resp/resp.h"

namespace heatsink::observe {

inline bool is_list(const resp::Value& value) {
  return value.type == resp::Value::Type::kArray || value.type == resp::Value::Type::kMap;
}

}  // namespace heatsink::observe
