// SPDX-License-Identifier: Apache-2.0
// What a server says of the CPU time that it has used and of the commands that it has executed.
#pragma once

#include <string>

namespace heatsink::redis {

// Since its start, by INFO.
struct ServerUse {
  double cpu_s = 0;     // used_cpu_user and used_cpu_sys: of all its threads
  double commands = 0;  // total_commands_processed: of all its clients
  std::string problem;  // the server's error; "": it has answered
};

}  // namespace heatsink::redis
