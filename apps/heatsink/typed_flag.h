// SPDX-License-Identifier: Apache-2.0
// Adds command-line flags of types with units, parsed as in configuration files.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>
#include <system_error>

#include "heatsink/base/result.h"
#include "heatsink/base/units.h"

namespace heatsink::app {

// A flag whose text `parse` (const std::string& -> Result<T>) converts to `target`; its error
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

// Checks that a value is a number within the bounds. CLI::Range accepts "nan", and for an unsigned
// target "-1".
inline CLI::Validator between(double min, double max) {
  const std::string bounds = fmt::format("{:.10g} .. {:.10g}", min, max);
  const auto check = [min, max, bounds](const std::string& text) -> std::string {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool whole = error == std::errc{} && end == text.data() + text.size();
    return whole && value >= min && value <= max ? ""
                                                 : "'" + text + "' is not a number in " + bounds;
  };
  return CLI::Validator(check, "in " + bounds);
}

inline CLI::Option* add_duration_flag(CLI::App& app, const std::string& name, Nanos& target,
                                      const std::string& help) {
  return add_parsed_flag(
             app, name, target, [](const std::string& text) { return parse_duration(text); },
             format_duration(target), help)
      ->type_name("DURATION");
}

}  // namespace heatsink::app
