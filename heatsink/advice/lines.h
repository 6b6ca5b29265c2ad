// SPDX-License-Identifier: Apache-2.0
// Writes lines that a user can paste to set up a relief: YAML for the proxy, or commands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::advice {

// Where a key is, and its settings at its proxy.
struct KeyPlace {
  std::optional<std::string> name{};  // exact bytes; nothing: only a part or a hash is known
  std::uint32_t db = 0;
  std::string server{};       // "10.0.0.7:6379"; "": not known
  bool has_proxy = false;     // the figures come from a proxy; false: from the server itself
  std::string rule{};         // the pattern of its rule at the proxy; "": the rule for all keys
  double hot_rate = 3000;     // the proxy calls a key hot from this rate on, in accesses per second
  bool is_level_off = false;  // the proxy is configured to keep no copies of it
};

using Lines = std::vector<std::string>;

// In double quotes, so that YAML and Python read the same bytes. Nothing if the bytes cannot be
// written that way, or contain invisible characters.
std::optional<std::string> quoted(std::string_view bytes);

// As one shell word, in the form in which `heatsink` accepts names: escaped as displayed.
std::string shell_name(std::string_view bytes);

// A rule for the key with these settings ("coalesce: 2ms"). If the key has a rule already: that
// rule with the settings added, because a rule for the key alone would replace all of its settings.
// Without a proxy: a whole configuration. Empty if the key's name cannot be written, also if it
// contains control characters, which no option's value may have.
Lines rule_lines(const KeyPlace& place, const Lines& settings);

// The command that keeps the key hot for a time; empty without its name.
Lines warm_lines(const KeyPlace& place);

// "redis://10.0.0.7:6379", or a placeholder.
std::string server_url(const KeyPlace& place);

}  // namespace heatsink::advice
