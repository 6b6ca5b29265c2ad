// SPDX-License-Identifier: Apache-2.0
// Words the errors of commands that no server has answered (upstream.on-down: error).
#pragma once

#include <string>
#include <string_view>

namespace heatsink::proxy {

// No server has executed the command, so it may be sent again. Client libraries know LOADING as a
// state that passes: go-redis, redis-py, redis-rs and Lettuce retry it or have a type of their own
// for it, and phpredis throws, while it returns false for "ERR" (docs/decisions).
inline std::string not_executed(std::string_view problem) {
  return "LOADING heatsink: " + std::string(problem);
}

// Redis uses the same code when the outcome at another server is unknown (MIGRATE). No library
// retries it.
inline std::string perhaps_executed(std::string_view problem) {
  return "IOERR heatsink: " + std::string(problem) +
         " (the server may have executed the command, or may yet execute it)";
}

// The error of a command that was split over the nodes of a cluster: the other nodes have executed
// theirs.
inline std::string perhaps_executed_parts(std::string_view problem) {
  return "IOERR heatsink: " + std::string(problem) +
         " (the servers may have executed parts of the command, or may yet execute it)";
}

}  // namespace heatsink::proxy
