// SPDX-License-Identifier: Apache-2.0
// Builds the proxy's configuration: defaults, then the file, then --set and --rule, then the verb's
// own flags.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "apps/heatsink/flags.h"
#include "heatsink/base/config_file.h"
#include "heatsink/base/option.h"
#include "heatsink/policy/options.h"

namespace heatsink::app {

// Sets `options` (the rows of some ProxyOptions) from file and assignments. After faults do not use
// the values: they stay set only to find further faults. The caller then applies its own flags, and
// finally calls add_contradictions().
ConfigFaults apply_configuration(const ConfigurationFlags& flags, OptionSet& options);

// The part of apply_configuration() that follows the file: --set and --rule.
ConfigFaults apply_configuration_flags(const ConfigurationFlags& flags, OptionSet& options);

// Faults that no single row can know: unreadable addresses, and options and rules that contradict
// each other. `rows` are those of `options`: they know where each rule was written.
ConfigFaults contradictions(const policy::ProxyOptions& options, const OptionSet& rows);

// Contradictions of options that come from no file: faults of a rule name it by its number.
ConfigFaults contradictions_of(const policy::ProxyOptions& options);

// Adds the contradictions that do not follow from a known fault: those that name no option, rule or
// warming item with a fault.
void add_contradictions(const policy::ProxyOptions& options, const OptionSet& rows,
                        ConfigFaults& faults);

// Prints a line per fault, with `program` in front: "heatsink config: ...".
void print_faults(const ConfigFaults& faults, std::string_view program, std::ostream& err);

// Prints a line for each deprecated option that is set, with `program` in front.
void print_deprecated(const OptionSet& options, std::string_view program, std::ostream& err);

// docs/reference/options.md, printed by `heatsink config print --markdown`.
std::string options_page(const OptionSet& options);

}  // namespace heatsink::app
