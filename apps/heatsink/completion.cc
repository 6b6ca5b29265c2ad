// SPDX-License-Identifier: Apache-2.0
// heatsink completion bash | zsh | fish
#include <CLI/CLI.hpp>
#include <iostream>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/manual/completions.h"
#include "apps/heatsink/verb_facts.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/option.h"
#include "heatsink/base/option_list.h"
#include "heatsink/base/version.h"
#include "heatsink/policy/options.h"

namespace heatsink::app {
namespace {

// "off | ttl | key" are choices; "0 .. 64 | inherit" has one, the word.
std::vector<std::string> choices_in(const std::string& bounds) {
  std::vector<std::string> choices;
  for (std::size_t begin = 0; begin < bounds.size();) {
    const std::size_t end = std::min(bounds.find(" | ", begin), bounds.size());
    const std::string word = bounds.substr(begin, end - begin);
    if (word.find(' ') == std::string::npos) choices.push_back(word);
    begin = end + 3;
  }
  return choices;
}

std::vector<OptionFacts> facts_of_options(const OptionSet& set) {
  std::vector<OptionFacts> facts;
  for (const OptionRow& row : set.rows())
    facts.push_back({row.name, row.help, choices_in(set.bounds_text(row))});
  return facts;
}

}  // namespace

int run_completion(int argc, char** argv) {
  std::string shell;
  CLI::App app("Prints the completion of a shell for this program.");
  app.add_option("SHELL", shell, "Which shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}));
  app.footer(
      "For this session: source <(heatsink completion bash), "
      "or: heatsink completion fish | source. The package heatsink installs all three.");
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  policy::ProxyOptions proxy;
  OptionSet options;
  proxy.describe(options);
  const CompletionFacts facts{
      .commands = facts_of(verbs()),
      .options = facts_of_options(options),
      .rule_options = facts_of_options(options.find_list("rules")->sample()),
      .version = version()};
  std::cout << (shell == "bash"  ? bash_completion(facts)
                : shell == "zsh" ? zsh_completion(facts)
                                 : fish_completion(facts))
            << std::flush;
  return std::cout.good() ? kDone : kFailed;
}

}  // namespace heatsink::app
