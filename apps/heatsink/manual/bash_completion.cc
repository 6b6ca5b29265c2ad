// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "apps/heatsink/manual/completions.h"

namespace heatsink::app {
namespace {

std::string quoted_words(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return single_quoted(line);
}

std::vector<std::string> names_of(const std::vector<FlagFacts>& flags) {
  std::vector<std::string> names;
  names.reserve(flags.size());
  for (const FlagFacts& flag : flags) names.push_back(flag.name);
  return names;
}

std::vector<std::string> names_of(const std::vector<CommandFacts>& commands) {
  std::vector<std::string> names;
  names.reserve(commands.size());
  for (const CommandFacts& command : commands) names.push_back(command.name);
  return names;
}

// The words of a flag or an argument: `kind`, or `words` if they can be listed.
std::string value_action(const FlagFacts& flag) {
  if (!flag.choices.empty()) return "words=" + quoted_words(flag.choices);
  if (flag.takes_file()) return "kind=file";
  if (flag.value == kOptionValue) return "kind=option";
  if (flag.value == kRuleValue) return "kind=rule";
  return "kind=value";
}

void append_case(std::string& out, const std::string& path, const CommandFacts& command) {
  out += fmt::format("    {})\n      flags={}\n", single_quoted(path),
                     quoted_words(names_of(command.flags)));
  if (!command.commands.empty())
    out += "      words=" + quoted_words(names_of(command.commands)) + "\n";
  for (const FlagFacts& argument : command.arguments) {
    if (const std::string action = value_action(argument); action != "kind=value")
      out += "      " + action + "\n";
  }
  std::string values;
  for (const FlagFacts& flag : command.flags) {
    if (!flag.value.empty())
      values += fmt::format("        {}) {} ;;\n", flag.name, value_action(flag));
  }
  if (!values.empty())
    out += "      case $flag in\n        '') ;;\n" + values + "        *) flag='' ;;\n      esac\n";
  out += "      ;;\n";
  for (const CommandFacts& each : command.commands) append_case(out, path + " " + each.name, each);
}

constexpr const char* kBegin = R"(
# Words of the line up to the cursor. COMP_WORDS is cut at = and :, which are parts of our words.
_heatsink() {
  local line=${COMP_LINE:0:COMP_POINT} cur='' flag='' path='' flags='' words='' kind='' word
  local -a typed
  read -ra typed <<<"$line"
  if [[ $line != *[[:space:]] && ${#typed[@]} -gt 0 ]]; then
    cur=${typed[-1]}
    unset 'typed[-1]'
  fi
  for word in "${typed[@]:1}"; do
    if [[ $word == -* ]]; then
      flag=$word
    elif [[ -n $flag ]]; then
      flag=''
    else
      case "$path/$word" in
        )";

constexpr const char* kEnd = R"(
  esac

  if [[ -z $flag && $cur == -* ]]; then words=$flags kind=words; fi
  local value=$cur
  [[ -n $flag && $cur == "$flag="* ]] && value=${cur#*=}
  case $kind in
    file)
      compopt -o filenames 2>/dev/null
      local IFS=$'\n'
      COMPREPLY=($(compgen -f -- "$value"))
      return
      ;;
    option)
      words=$_heatsink_options
      if [[ $value == *=* ]]; then words=$_heatsink_values; fi
      ;;
    rule)
      words='match='
      if [[ $value == *,* ]]; then
        words=$_heatsink_rule_options
        if [[ ${value##*,} == *=* ]]; then words=$_heatsink_rule_values; fi
      fi
      ;;
    value) words='' ;;
  esac
  local part=$value
  if [[ $kind == rule ]]; then part=${value##*,}; fi
  COMPREPLY=($(compgen -W "$words" -- "$part"))
  [[ ${COMPREPLY[0]:-} == *= ]] && compopt -o nospace 2>/dev/null

  # The shell replaces what follows the last character of its own list of word breaks.
  local before=${cur%"$part"} broken=''
  [[ $COMP_WORDBREAKS == *=* && $cur == *=* ]] && broken=${cur%"${cur##*=}"}
  [[ $COMP_WORDBREAKS == *:* && $cur == *:* && ${#broken} -lt $((${#cur} - ${#part})) ]] &&
    broken=${cur%"${cur##*:}"}
  local i
  for i in "${!COMPREPLY[@]}"; do
    COMPREPLY[i]=$before${COMPREPLY[i]}
    COMPREPLY[i]=${COMPREPLY[i]#"$broken"}
  done
}

complete -F _heatsink heatsink
)";

// The patterns of words that lead to a verb or to one of its own.
std::string known_paths(const CompletionFacts& facts) {
  std::string out;
  for (const CommandFacts& command : facts.commands) {
    out += (out.empty() ? "/" : " | /") + command.name;
    for (const CommandFacts& each : command.commands)
      out += " | \\\n          '" + command.name + "'/" + each.name;
  }
  return out;
}

}  // namespace

std::string bash_completion(const CompletionFacts& facts) {
  std::string out = "# bash completion of heatsink " + facts.version +
                    ", written by 'heatsink completion bash'.\n";
  out += "_heatsink_options=" + quoted_words(option_names(facts.options)) + "\n";
  out += "_heatsink_values=" + quoted_words(option_values(facts.options)) + "\n";
  out += "_heatsink_rule_options=" + quoted_words(option_names(facts.rule_options)) + "\n";
  out += "_heatsink_rule_values=" + quoted_words(option_values(facts.rule_options)) + "\n";
  out += kBegin + known_paths(facts) + ") path+=${path:+ }$word ;;\n      esac\n    fi\n  done\n";
  out += "  # --flag=value is one word; a flag without a value is followed by anything.\n";
  out += "  [[ $flag == *=* ]] && flag=''\n";
  out += "  [[ $cur == --*=* ]] && flag=${cur%%=*}\n\n  case $path in\n";
  out += "    '') words=" + quoted_words(names_of(facts.commands)) +
         " flags='--help --version' flag='' ;;\n";
  for (const CommandFacts& command : facts.commands) append_case(out, command.name, command);
  return out + kEnd;
}

}  // namespace heatsink::app
