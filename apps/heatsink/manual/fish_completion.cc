// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/heatsink/manual/completions.h"

namespace heatsink::app {
namespace {

std::string fish_quoted(const std::string& text) {
  std::string escaped;
  for (const char c : text) escaped += c == '\\' ? "\\\\" : std::string(1, c);
  return single_quoted(escaped, "\\'");
}

std::string list_of(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += " " + fish_quoted(word);
  return out;
}

// The option of `complete` that says which values a flag or an argument has.
std::string values_of(const FlagFacts& flag) {
  if (flag.takes_file()) return " -r -F";
  if (flag.value == kOptionValue) return " -x -a '(__heatsink_assignments)'";
  if (flag.value == kRuleValue) return " -x -a '(__heatsink_rules)'";
  std::string words;
  for (const std::string& choice : flag.choices) words += (words.empty() ? "" : " ") + choice;
  return words.empty() ? " -x" : " -x -a " + fish_quoted(words);
}

void append_command(std::string& out, const std::string& condition, const CommandFacts& command) {
  const std::string begin = "complete -c heatsink -n " + fish_quoted(condition);
  for (const FlagFacts& flag : command.flags) {
    out += begin + " -l " + flag.name.substr(2);
    if (!flag.value.empty()) out += values_of(flag);
    out += " -d " + fish_quoted(flag.help) + "\n";
  }
  for (const FlagFacts& argument : command.arguments) {
    if (argument.takes_file()) out += begin + " -F\n";
    if (!argument.choices.empty()) out += begin + values_of(argument) + "\n";
  }
  if (command.commands.empty()) return;
  std::string not_yet = condition + "; and not __fish_seen_subcommand_from";
  for (const CommandFacts& each : command.commands) not_yet += " " + each.name;
  for (const CommandFacts& each : command.commands) {
    out += "complete -c heatsink -n " + fish_quoted(not_yet) + " -a " + each.name + " -d " +
           fish_quoted(each.summary) + "\n";
    append_command(out, condition + "; and __fish_seen_subcommand_from " + each.name, each);
  }
}

constexpr const char* kFunctions = R"(
function __heatsink_assignments
    if string match -q '*=*' -- (commandline -ct | string replace -r '^--set=' '')
        printf '%s\n' $__heatsink_values
    else
        printf '%s\n' $__heatsink_options
    end
end

function __heatsink_rules
    set -l typed (commandline -ct | string replace -r '^--rule=' '')
    set -l before (string match -r '^.*,' -- $typed)
    if test -z "$before"
        echo match=
    else if string match -q '*=*' -- (string replace -r '^.*,' '' -- $typed)
        printf "$before%s\n" $__heatsink_rule_values
    else
        printf "$before%s\n" $__heatsink_rule_options
    end
end

)";

}  // namespace

std::string fish_completion(const CompletionFacts& facts) {
  std::string out = "# fish completion of heatsink " + facts.version +
                    ", written by 'heatsink completion fish'.\n";
  out += "set -g __heatsink_options" + list_of(option_names(facts.options)) + "\n";
  out += "set -g __heatsink_values" + list_of(option_values(facts.options)) + "\n";
  out += "set -g __heatsink_rule_options" + list_of(option_names(facts.rule_options)) + "\n";
  out += "set -g __heatsink_rule_values" + list_of(option_values(facts.rule_options)) + "\n";
  out += kFunctions;
  out += "complete -c heatsink -f\n";
  out += "complete -c heatsink -n __fish_use_subcommand -l version -d 'Print the version'\n";
  for (const CommandFacts& command : facts.commands) {
    out += "complete -c heatsink -n __fish_use_subcommand -a " + command.name + " -d " +
           fish_quoted(command.summary) + "\n";
  }
  for (const CommandFacts& command : facts.commands)
    append_command(out, "__fish_seen_subcommand_from " + command.name, command);
  return out;
}

}  // namespace heatsink::app
