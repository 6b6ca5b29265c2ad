// SPDX-License-Identifier: Apache-2.0
// Reads YAML into an OptionSet, and reports all faults at once, each with its line and its fix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/option.h"

namespace heatsink {

inline constexpr std::size_t kConfigFileBytesMax = 1 << 20;
inline constexpr std::size_t kConfigFaultsMax = 50;  // more are not looked for
inline constexpr std::size_t kConfigDepthMax = 16;   // of nested groups

// What is wrong, in the order of the file: "heatsink.yaml:12: detection.window is '5': write a
// number and us, ms, s, m or h, as in 250ms (bounds 1s .. 1h, default 10s)".
using ConfigFaults = std::vector<Error>;

// With any fault no option is changed; or all that are right are set, so that it can be told what
// else is wrong with them. An item of a list that has a fault is then there, too.
enum class OnFault : std::uint8_t { kUndoAll, kKeepTheRest };

// Sets what `text` says; options that it does not name keep their value. Groups may be nested
// (`detection: {window: 10s}`), written with dots
// (`detection.window: 10s`), or both; lists are sequences of maps, whose items are appended. One
// YAML document; aliases and tags are refused, and so is an option that is set twice. `name` stands
// for the file in the faults. Not thread-safe. Throws nothing.
ConfigFaults apply_config_text(std::string_view text, std::string_view name, OptionSet& options,
                               OnFault on_fault = OnFault::kUndoAll);

// The same from a file (or a pipe), of at most kConfigFileBytesMax.
ConfigFaults load_config_file(const std::string& path, OptionSet& options,
                              OnFault on_fault = OnFault::kUndoAll);

}  // namespace heatsink
