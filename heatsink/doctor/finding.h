// SPDX-License-Identifier: Apache-2.0
// Defines what a check says: how bad it is, what is wrong, what it costs, and how to mend it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::doctor {

enum class Level : std::uint8_t {
  kOk,
  kNote,     // good to know; nothing needs to change
  kWarning,  // works now, but a promise is weaker, or it will fail under load
  kError,    // clients are refused, or there are no local copies
};
const char* to_string(Level level);  // "ok", "note", "warning", "error"

// Texts may contain what a server sent, escaped by printable().
struct Finding {
  Level level = Level::kOk;
  std::string what;        // one sentence with the value
  std::string cost = {};   // "" for kOk
  std::string mend = {};   // what to do
  std::string paste = {};  // a line for a shell, redis-cli or a configuration file; "": none
  std::string about = {};  // tells several findings of one check apart
  std::string code = {};   // of the check; examine() fills it
};
using Findings = std::vector<Finding>;

// Number of findings of this level.
std::size_t count_of(const Findings& findings, Level level);

}  // namespace heatsink::doctor
