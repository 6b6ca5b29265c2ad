// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/verb_facts.h"

#include <CLI/CLI.hpp>
#include <string>
#include <utility>

#include "apps/heatsink/flags.h"

namespace heatsink::app {
namespace {

// CLI11 writes "N:in 0 .. 9", "N:INT in [1 - 9]" or "WHICH:{a,b}": the name of the value and what
// its validators say.
void read_type(const std::string& type, FlagFacts& flag) {
  const std::size_t braces = type.find(":{");
  std::size_t bounds = type.find(":in ");
  if (bounds == std::string::npos) {
    const std::size_t range = type.find(" in [");
    if (range != std::string::npos) bounds = type.rfind(':', range);
  }
  flag.value = type.substr(0, std::min(braces, bounds));
  if (bounds != std::string::npos) {
    const std::string text = type.substr(bounds + 1);
    flag.bounds = text.substr(text.find("in "));
  }
  if (braces == std::string::npos) return;
  std::string list = type.substr(braces + 2);
  list.resize(list.find('}'));
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    flag.choices.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
}

FlagFacts facts_of(const CLI::Option& option) {
  FlagFacts flag;
  if (option.get_positional()) {
    flag.name = option.get_name(true);
  } else {
    flag.name = "--" + option.get_lnames().front();
    if (!option.get_snames().empty()) flag.short_name = "-" + option.get_snames().front();
  }
  if (option.get_type_size() != 0) read_type(option.get_type_name(), flag);
  flag.default_text = option.get_default_str();
  flag.help = option.get_description();
  flag.required = option.get_required();
  flag.repeats = option.get_items_expected_max() > 1;
  return flag;
}

CommandFacts facts_of(const CLI::App& app) {
  CommandFacts command{.name = app.get_name(),
                       .summary = app.get_description(),
                       .description = app.get_description(),
                       .footer = app.get_footer()};
  for (const CLI::Option* option : app.get_options())
    (option->get_positional() ? command.arguments : command.flags).push_back(facts_of(*option));
  for (const CLI::App* each : app.get_subcommands({})) command.commands.push_back(facts_of(*each));
  return command;
}

}  // namespace

std::vector<CommandFacts> facts_of(std::span<const Verb> verbs) {
  std::vector<CommandFacts> commands;
  const FlagsReader reader([&](const CLI::App& app) { commands.push_back(facts_of(app)); });
  for (const Verb& verb : verbs) {
    const std::size_t before = commands.size();
    std::string program = "heatsink " + std::string(verb.name);
    char* const words[] = {program.data(), nullptr};
    verb.run(1, const_cast<char**>(words));
    if (commands.size() == before) commands.emplace_back();  // it has no flags
    commands.back().name = verb.name;
    commands.back().summary = verb.help;
  }
  return commands;
}

}  // namespace heatsink::app
