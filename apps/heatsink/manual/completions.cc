// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/manual/completions.h"

namespace heatsink::app {

std::string single_quoted(const std::string& text, const char* quote) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? quote : std::string(1, c);
  return out + "'";
}

std::vector<std::string> option_names(const std::vector<OptionFacts>& options) {
  std::vector<std::string> names;
  names.reserve(options.size());
  for (const OptionFacts& option : options) names.push_back(option.name + "=");
  return names;
}

std::vector<std::string> option_values(const std::vector<OptionFacts>& options) {
  std::vector<std::string> values;
  for (const OptionFacts& option : options) {
    for (const std::string& choice : option.choices) values.push_back(option.name + "=" + choice);
  }
  return values;
}

}  // namespace heatsink::app
