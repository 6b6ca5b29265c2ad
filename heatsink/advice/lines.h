// SPDX-License-Identifier: Apache-2.0
// Writes the lines that a person can paste to get a relief: YAML for the proxy, or commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::advice {

// Where a key is, and what its proxy has for it.
struct KeyPlace {
  std::optional<std::string> name{};  // exact bytes; nothing: only a part or a hash of it is known
  std::uint32_t db = 0;
  std::string server{};       // "10.0.0.7:6379"; "": not known
  bool has_proxy = false;     // the figures are a proxy's; else its server was asked itself
  std::string rule{};         // the pattern of the proxy's rule for it; "": that for all keys
  double hot_rate = 3000;     // accesses per second from which on its proxy calls a key hot
  bool is_level_off = false;  // its proxy is told to keep no copies of it
};

using Lines = std::vector<std::string>;

// In double quotes, as YAML and Python read the same bytes again. Nothing: it has bytes that no
// such text holds, or characters that would not be seen.
std::optional<std::string> quoted(std::string_view bytes);

// One word of a shell's command line, as `heatsink` takes names: escaped as they are shown.
std::string shell_name(std::string_view bytes);

// A rule for the key with these settings ("coalesce: 2ms"). Where it has a rule already, that rule
// with the settings added: one for the key alone would replace all that it says. Without a proxy a
// whole configuration. Empty if the key's name cannot be written.
// An option's value holds no control characters: for such a name there are none either.
Lines rule_lines(const KeyPlace& place, const Lines& settings);

// The command that keeps it hot for a time; empty without its name.
Lines warm_lines(const KeyPlace& place);

// "redis://10.0.0.7:6379", or a word in its place.
std::string server_url(const KeyPlace& place);

}  // namespace heatsink::advice
