// SPDX-License-Identifier: Apache-2.0
// The redis-server that the tests of this room ask: one for all of them.
#pragma once

#include "heatsink/resp/testing/redis_process.h"

namespace heatsink::resp {

inline testing::RedisProcess& redis() {
  static testing::RedisProcess process;
  return process;
}

}  // namespace heatsink::resp
