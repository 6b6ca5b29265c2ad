// SPDX-License-Identifier: Apache-2.0
// From options to rules: what a rule does not say is as detection.* says.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "heatsink/detect/detect.h"
#include "heatsink/proxy/options.h"

namespace heatsink::proxy {

// What is counted for all keys, or for those of `rule`. REQUIRES a dimension that the rows allow.
detect::Measure measure_of(const ProxyOptions& options);
detect::Measure measure_of(const ProxyOptions& options, const RuleOptions& rule);

// What no row of a rule can know by itself, with what to do about it.
struct RuleFault {
  std::size_t rule;  // its place in options.rules
  std::string sentence;
};
std::vector<RuleFault> rule_faults(const ProxyOptions& options);

}  // namespace heatsink::proxy
