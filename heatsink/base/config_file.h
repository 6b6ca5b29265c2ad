// SPDX-License-Identifier: Apache-2.0
// Reads YAML into an OptionSet, and reports all faults at once, each with its line and its fix.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/option.h"
#include "heatsink/base/result.h"

namespace heatsink {

inline constexpr std::size_t kConfigFileBytesMax = 1 << 20;
inline constexpr std::size_t kConfigFaultsMax = 50;  // the limit of reported faults
inline constexpr std::size_t kConfigDepthMax = 16;   // of nested groups

// The faults, in the order of the file: "heatsink.yaml:12: detection.window is '5': write a number
// and us, ms, s, m or h, as in 250ms (bounds 1s .. 1h, default 10s)".
using ConfigFaults = std::vector<Error>;
void append_faults(ConfigFaults& faults, ConfigFaults more);

// With kUndoAll, any fault undoes all changes. With kKeepTheRest, the valid options stay set, so
// that later checks can report more faults. A list item with a fault then stays, too.
enum class OnFault : std::uint8_t { kUndoAll, kKeepTheRest };

// Sets the options in `text`; others keep their values. Groups may be nested (`detection: {window:
// 10s}`), written with dots (`detection.window: 10s`), or both; lists are sequences of maps, whose
// items are appended. Accepts one YAML document; refuses aliases, tags and repeated options. `name`
// stands for the file in faults. Not thread-safe. Does not throw.
ConfigFaults apply_config_text(std::string_view text, std::string_view name, OptionSet& options,
                               OnFault on_fault = OnFault::kUndoAll);

// The text of a file (or a pipe); of a larger one than kConfigFileBytesMax a byte more than that,
// which apply_config_text() refuses.
Result<std::string> read_config_file(const std::string& path);

// Loads a file (or a pipe), of at most kConfigFileBytesMax.
ConfigFaults load_config_file(const std::string& path, OptionSet& options,
                              OnFault on_fault = OnFault::kUndoAll);

}  // namespace heatsink
