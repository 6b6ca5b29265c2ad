// SPDX-License-Identifier: Apache-2.0
// The effective configuration of the proxy: defaults, then the file, then --set and --rule, then
// the verb's own flags.
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

#include "apps/heatsink/flags.h"
#include "heatsink/base/config_file.h"
#include "heatsink/base/option.h"
#include "heatsink/policy/options.h"

namespace heatsink::app {

// Sets `options` (the rows of some ProxyOptions) from file and assignments; with faults, what is
// set is not meant to be used, but is there: more may be wrong with it. The caller then applies its
// own flags, and last asks add_contradictions().
ConfigFaults apply_configuration(const ConfigurationFlags& flags, OptionSet& options);

// What no single row can know: addresses that cannot be read, options and rules that do not go
// together. `rows` are those of `options`: they know where each rule was written.
ConfigFaults contradictions(const policy::ProxyOptions& options, const OptionSet& rows);

// Adds those that do not follow from a fault that is known already: that name no option, rule or
// item of warming that has one.
void add_contradictions(const policy::ProxyOptions& options, const OptionSet& rows,
                        ConfigFaults& faults);

// One line each, "heatsink config: ..." with `program` in front.
void print_faults(const ConfigFaults& faults, std::string_view program, std::ostream& err);

// docs/reference/options.md: `heatsink config print --markdown`.
std::string options_page(const OptionSet& options);

}  // namespace heatsink::app
