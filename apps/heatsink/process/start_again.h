// SPDX-License-Identifier: Apache-2.0
// Starts this program once more, as a new process with the same arguments.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"

namespace heatsink::app {

// How this process was started. The path is that of the command line: a new version of the program,
// or a link that leads to it, is found there (/proc/self/exe would name the old file).
struct ProgramStart {
  std::string path;
  std::vector<std::string> arguments;         // the first is the program's name
  std::vector<std::string> environment = {};  // "NAME=value", besides that of this process

  // `verb`, and the words behind it. Looks in PATH as a shell does. Call it before the working
  // directory changes.
  static ProgramStart of_this_process(const std::string& verb, int argc, char** argv);
};

// The process gets the environment without variables named `variable`, that of `program`, and
// `variable` = the number of `descriptor`, which it inherits besides the standard ones. No signal
// is blocked or ignored in it. Returns its id; the caller waits for it. Error: the system's, with
// the path.
Result<pid_t> start_again(const ProgramStart& program, const char* variable, int descriptor);

// How a child ended: "exited with status 1", "was ended by signal 9"; "" if it still runs after
// `limit`. Its id stays its own until the caller waits for it.
std::string how_ended(pid_t child, Nanos limit);

}  // namespace heatsink::app
