// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/flags.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "apps/heatsink/verbs.h"
#include "heatsink/base/nearest.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

std::function<void(const CLI::App&)>& reader() {
  static std::function<void(const CLI::App&)> read;
  return read;
}

// The names that may stand where a word of the command line is unknown.
std::vector<std::string> known_flags(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
  }
  for (const CLI::App* verb : app.get_subcommands()) {  // those of the command line
    const std::vector<std::string> more = known_flags(*verb);
    out.insert(out.end(), more.begin(), more.end());
  }
  return out;
}

std::vector<std::string> known_verbs(const CLI::App& app) {
  std::vector<std::string> out;
  for (const CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    out.push_back(verb->get_name());
  return out;
}

std::string unknown_word(const char* what, const std::string& word,
                         const std::vector<std::string>& known) {
  constexpr std::size_t kShownBytesMax = 64;
  std::string out = std::string("unknown ") + what + " '" + printable(word, kShownBytesMax) + "'";
  const std::string_view meant = nearest(word, known);
  if (!meant.empty()) out += ": did you mean '" + std::string(meant) + "'?";
  return out;
}

// The words that no option and no verb has taken, in the order of the command line.
std::string fault_of(const CLI::App& app, const std::vector<std::string>& words) {
  for (const std::string& word : words) {
    const std::string flag = word.substr(0, word.find('='));
    if (flag.starts_with("-")) return unknown_word("flag", flag, known_flags(app));
  }
  const std::vector<std::string> verbs = known_verbs(app);
  if (!verbs.empty() && app.get_subcommands().empty())
    return unknown_word("verb", words.front(), verbs);
  std::string out = words.size() == 1 ? "unexpected argument" : "unexpected arguments";
  for (const std::string& word : words) out += " '" + one_line(word) + "'";
  return out;
}

std::string fault_of(const CLI::App& app, const CLI::ParseError& error) {
  const auto code = static_cast<CLI::ExitCodes>(error.get_exit_code());
  const std::vector<std::string> words = app.remaining(true);
  const bool is_about_words =
      code == CLI::ExitCodes::ExtrasError || code == CLI::ExitCodes::RequiredError;
  return is_about_words && !words.empty() ? fault_of(app, words) : one_line(error.what());
}

}  // namespace

FlagsReader::FlagsReader(std::function<void(const CLI::App&)> read) { reader() = std::move(read); }
FlagsReader::~FlagsReader() { reader() = nullptr; }

std::optional<int> parse_flags(CLI::App& app, int argc, char** argv) {
  app.name(argv[0]);
  if (reader()) {
    reader()(app);
    return kDone;
  }
  try {
    app.parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::Success& asked_for_help) {
    app.exit(asked_for_help);
    return kDone;
  } catch (const CLI::ParseError& e) {
    std::cerr << argv[0] << ": " << fault_of(app, e) << " ('" << argv[0]
              << " --help' lists the flags)\n";
    return kMisused;
  }
}

void add_configuration_flags(CLI::App& app, ConfigurationFlags& flags) {
  app.add_option("--config", flags.file, "Configuration file (YAML)")->type_name("FILE");
  app.add_option("--set", flags.assignments, "Set one option; overrides the file; may be repeated")
      ->type_name("OPTION=VALUE")
      ->allow_extra_args(false);
  app.add_option("--rule", flags.rules,
                 "Add a rule for some keys, after those of the file; may be repeated; "
                 "a value with a comma needs double quotes")
      ->type_name("match=KEYS,NAME=VALUE...")
      ->allow_extra_args(false);
}

}  // namespace heatsink::app
