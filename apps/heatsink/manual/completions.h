// SPDX-License-Identifier: Apache-2.0
// Writes the completion of a shell for the program, from the flags of its verbs and its options.
#pragma once

#include <string>
#include <vector>

#include "apps/heatsink/manual/command_facts.h"

namespace heatsink::app {

struct OptionFacts {
  std::string name;                  // "cache.level"
  std::string help;                  // its first sentence
  std::vector<std::string> choices;  // empty: any value, or too many
};

// The scripts need nothing but the shell, and never run the program.
struct CompletionFacts {
  std::vector<CommandFacts> commands;     // the verbs
  std::vector<OptionFacts> options;       // after --set
  std::vector<OptionFacts> rule_options;  // after --rule match=KEYS,
  std::string version;
};

// Flags whose values are options of the proxy, by what --help calls the value.
inline constexpr const char* kOptionValue = "OPTION=VALUE";
inline constexpr const char* kRuleValue = "match=KEYS,NAME=VALUE...";

std::string bash_completion(const CompletionFacts& facts);
std::string zsh_completion(const CompletionFacts& facts);
std::string fish_completion(const CompletionFacts& facts);

// Words of the options: "cache.level=" for each, or "cache.level=key" for each choice.
std::vector<std::string> option_names(const std::vector<OptionFacts>& options);
std::vector<std::string> option_values(const std::vector<OptionFacts>& options);

// 'text' in single quotes; `quote` is how the shell writes one inside them.
std::string single_quoted(const std::string& text, const char* quote = R"('\'')");

}  // namespace heatsink::app
