// SPDX-License-Identifier: Apache-2.0
// Command-line flags of the types that carry their unit, read as configuration files write them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

#include "heatsink/base/result.h"
#include "heatsink/base/units.h"

namespace heatsink::app {

// A flag whose text `parse` (const std::string& -> Result<T>) turns into `target`; its error
// becomes CLI11's, which names the flag. `shown_default` is for --help.
template <class T, class Parse>
CLI::Option* add_parsed_flag(CLI::App& app, const std::string& name, T& target, Parse parse,
                             const std::string& shown_default, const std::string& help) {
  const auto read = [&target, parse, name](const std::string& text) {
    Result<T> value = parse(text);
    if (!value) throw CLI::ValidationError(name, value.error().message);
    target = std::move(value).value();
  };
  return app.add_option_function<std::string>(name, read, help)->default_str(shown_default);
}

inline CLI::Option* add_duration_flag(CLI::App& app, const std::string& name, Nanos& target,
                                      const std::string& help) {
  return add_parsed_flag(
             app, name, target, [](const std::string& text) { return parse_duration(text); },
             format_duration(target), help)
      ->type_name("DURATION");
}

}  // namespace heatsink::app
