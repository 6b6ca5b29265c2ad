// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/heatsink/manual/completions.h"

namespace heatsink::app {
namespace {

// Text inside the brackets of an _arguments specification.
std::string explained(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string array_of(const std::vector<std::string>& words) {
  std::string out = "(";
  for (const std::string& word : words) out += "\n  " + single_quoted(word);
  return out + ")\n";
}

std::string action_of(const FlagFacts& flag) {
  if (flag.takes_file()) return "_files";
  if (flag.value == kOptionValue) return "_heatsink_value_assignment";
  if (flag.value == kRuleValue) return "_heatsink_value_rule";
  if (flag.choices.empty()) return " ";
  std::string words;
  for (const std::string& choice : flag.choices) words += (words.empty() ? "" : " ") + choice;
  return "(" + words + ")";
}

std::string specification(const FlagFacts& flag) {
  const std::string begin = flag.repeats ? "*" : "";
  if (flag.value.empty())
    return single_quoted(begin + flag.name + "[" + explained(flag.help) + "]");
  return single_quoted(fmt::format("{}{}=[{}]:{}:{}", begin, flag.name, explained(flag.help),
                                   explained(flag.value), action_of(flag)));
}

void append_function(std::string& out, const std::string& name, const CommandFacts& command) {
  for (const CommandFacts& each : command.commands)
    append_function(out, name + "_" + each.name, each);
  out += "\n" + name + "() {\n  local curcontext=$curcontext state line\n  _arguments -C";
  for (const FlagFacts& flag : command.flags) out += " \\\n    " + specification(flag);
  for (const FlagFacts& argument : command.arguments)
    out += " \\\n    " + single_quoted(fmt::format("{}:{}:{}", argument.repeats ? "*" : "",
                                                   explained(argument.name), action_of(argument)));
  if (!command.commands.empty()) out += " \\\n    '1:verb:->verb' '*::argument:->rest'";
  out += "\n";
  if (!command.commands.empty()) {
    out += "  case $state in\n    verb)\n      local -a verbs=(";
    for (const CommandFacts& each : command.commands)
      out += "\n        " + single_quoted(explained(each.name) + ":" + each.summary);
    out += ")\n      _describe verb verbs ;;\n    rest)\n      case $line[1] in\n";
    for (const CommandFacts& each : command.commands)
      out += fmt::format("        {0}) {1}_{0} ;;\n", each.name, name);
    out += "      esac ;;\n  esac\n";
  }
  out += "}\n";
}

constexpr const char* kValues = R"(
_heatsink_value_assignment() {
  if compset -P '*='; then
    local name=${${IPREFIX%=}##*=}
    local -a found=(${(M)_heatsink_values:#$name=*})
    compadd -- ${found#*=}
  else
    compadd -S '' -- $_heatsink_options
  fi
}

_heatsink_value_rule() {
  if ! compset -P '*,'; then
    compadd -S '' -- match=
  elif compset -P '*='; then
    local name=${${IPREFIX%=}##*,}
    local -a found=(${(M)_heatsink_rule_values:#$name=*})
    compadd -- ${found#*=}
  else
    compadd -S '' -- $_heatsink_rule_options
  fi
}
)";

}  // namespace

std::string zsh_completion(const CompletionFacts& facts) {
  std::string out = "#compdef heatsink\n# zsh completion of heatsink " + facts.version +
                    ", written by 'heatsink completion zsh'.\n";
  out += "typeset -ga _heatsink_options=" + array_of(option_names(facts.options));
  out += "typeset -ga _heatsink_values=" + array_of(option_values(facts.options));
  out += "typeset -ga _heatsink_rule_options=" + array_of(option_names(facts.rule_options));
  out += "typeset -ga _heatsink_rule_values=" + array_of(option_values(facts.rule_options));
  out += kValues;
  CommandFacts program;
  program.flags = {{.name = "--help", .help = "Print the verbs"},
                   {.name = "--version", .help = "Print the version"}};
  program.commands = facts.commands;
  append_function(out, "_heatsink", program);
  // Works both as an autoloaded function and when a startup file evaluates it.
  return out +
         "\nif [[ $funcstack[1] == _heatsink ]]; then\n  _heatsink \"$@\"\nelse\n"
         "  compdef _heatsink heatsink\nfi\n";
}

}  // namespace heatsink::app
