// SPDX-License-Identifier: Apache-2.0
// Hides secrets in the program's command line and environment: `ps` shows the command line of each
// process to all users, and the environment to its owner.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heatsink::app {

// Replaces the secrets in one word of a command line by stars: the password of a URL, and
// admin.token. The result is never longer, so that it fits into the same memory.
std::string without_secrets(std::string_view word);

// Copies the command line and overwrites its secrets, and those of the environment's passwords, in
// the original memory. Until then, from the start of the process, all was readable: a file is
// safer. Programs started later still get the original environment. main() makes one, before there
// are threads.
class CommandLine {
 public:
  CommandLine(int count, char** words);

  int count() const { return static_cast<int>(copies_.size()); }
  char** words() { return pointers_.data(); }  // ends with a null pointer

 private:
  std::vector<std::string> copies_;
  std::vector<char*> pointers_;
};

}  // namespace heatsink::app
