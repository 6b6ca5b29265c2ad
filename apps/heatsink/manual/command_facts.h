// SPDX-License-Identifier: Apache-2.0
// What the command line of the program offers, as data: verbs, their flags and their arguments.
#pragma once

#include <string>
#include <vector>

namespace heatsink::app {

struct FlagFacts {
  std::string name = {};                  // "--listen"; of an argument "KEY"
  std::string short_name = {};            // "-h"; "": none
  std::string value = {};                 // "FILE", "OPTION=VALUE"; "": the flag has no value
  std::vector<std::string> choices = {};  // the only values allowed; empty: many are
  std::string bounds = {};                // "in 1 .. 4096"; "": none
  std::string default_text = {};
  std::string help = {};  // a sentence, without a full stop
  bool repeats = false;
  bool required = false;

  bool takes_file() const { return value == "FILE" || (value == "TEXT" && name == "FILE"); }
};

struct CommandFacts {
  std::string name = {};     // "proxy"
  std::string summary = {};  // a sentence
  std::string description = {};
  std::string footer = {};                // what else --help says
  std::vector<FlagFacts> flags = {};      // in the order of --help
  std::vector<FlagFacts> arguments = {};  // in their order
  std::vector<CommandFacts> commands = {};
};

}  // namespace heatsink::app
