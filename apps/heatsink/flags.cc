// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/flags.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <utility>

#include "apps/heatsink/verbs.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

std::function<void(const CLI::App&)>& reader() {
  static std::function<void(const CLI::App&)> read;
  return read;
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
    std::cerr << argv[0] << ": " << one_line(e.what()) << " ('" << argv[0]
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
                 "Add a rule for some keys, after those of the file; may be repeated; a value with "
                 "a comma needs double quotes")
      ->type_name("match=KEYS,NAME=VALUE...")
      ->allow_extra_args(false);
}

}  // namespace heatsink::app
