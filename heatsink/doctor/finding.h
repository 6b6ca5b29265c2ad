// SPDX-License-Identifier: Apache-2.0
// Defines what a check says, and writes it for a terminal and for the log: how bad it is, what is
// wrong, what it costs, and how to mend it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/wall_time.h"
#include "heatsink/net/net.h"

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

// How findings_text() writes for a terminal.
struct TextOptions {
  bool has_colour = false;
  std::size_t columns = 100;
};

// A line for each finding, and below it what it costs and how to mend it. A last line with the
// numbers.
std::string findings_text(const Findings& findings, std::size_t left_out,
                          const TextOptions& options);

// "WHAT: COST; MEND: PASTE": one line.
std::string log_line(const Finding& finding);

// Judges until when a certificate is valid. `what`: "the server's certificate"; `renew`: what to
// do.
Finding validity_finding(const std::string& what, const net::Certificate& certificate, WallTime now,
                         const std::string& renew);

}  // namespace heatsink::doctor
