// SPDX-License-Identifier: Apache-2.0
// For tests: the one redis-server that all tests of this room use.
#pragma once

#include "heatsink/resp/testing/redis_process.h"

namespace heatsink::resp {

inline testing::RedisProcess& redis() {
  static testing::RedisProcess process;
  return process;
}

}  // namespace heatsink::resp
