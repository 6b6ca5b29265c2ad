// SPDX-License-Identifier: Apache-2.0
// The words that the program was called with, and what others see of them: `ps` shows every user
// the command line of every process, and to its owner the environment, too.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace heatsink::app {

// One word of a command line with its secrets as stars: the password of a URL, and admin.token.
// Never longer than it was, so that it fits where it stood.
std::string without_secrets(std::string_view word);

// Takes the command line and leaves in its place, and in that of the environment's passwords, what
// anybody may see. From the start of the process until then all could be read: a file is better.
// Programs that are started later still get the environment as it was. Made once, by main(), before
// there are threads.
class CommandLine {
 public:
  CommandLine(int count, char** words);

  int count() const { return static_cast<int>(copies_.size()); }
  char** words() { return pointers_.data(); }  // with the null behind them

 private:
  std::vector<std::string> copies_;
  std::vector<char*> pointers_;
};

}  // namespace heatsink::app
