// SPDX-License-Identifier: Apache-2.0
// Prints an OptionSet as documents: the sample file in YAML, and the reference page in Markdown.
#pragma once

#include <string>

#include "heatsink/base/option.h"

namespace heatsink {

// The whole set as a commented YAML file, in groups (`heatsink config print`). load_config_file()
// reads the same values back.
std::string to_yaml(const OptionSet& set);

// The rows as a reference page: a table per group, with the defaults as values.
std::string to_markdown(const OptionSet& set);

}  // namespace heatsink
