// SPDX-License-Identifier: Apache-2.0
// Finds the verb of the command line and runs it.
#include <algorithm>
#include <iomanip>
#include <ostream>
#include <string>
#include <vector>

#include "apps/heatsink/verbs.h"
#include "heatsink/base/nearest.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/version.h"

namespace heatsink::app {
namespace {

void print_help(std::span<const Verb> verbs, std::ostream& out) {
  out << "heatsink finds the hot keys of a Redis or Valkey server "
         "and serves them from local copies.\n\nusage: heatsink VERB [flags]\n\n";
  std::size_t columns = 8;
  for (const Verb& verb : verbs) columns = std::max(columns, verb.name.size());
  for (const Verb& verb : verbs) {
    out << "  " << std::left << std::setw(static_cast<int>(columns)) << verb.name << " "
        << verb.help << "\n";
  }
  out << "\n'heatsink VERB --help' lists the flags of a verb; "
         "'heatsink --version' prints the version.\n";
}

int refuse_unknown(std::string_view word, std::span<const Verb> verbs, std::ostream& err) {
  std::vector<std::string> names;
  for (const Verb& verb : verbs) names.emplace_back(verb.name);
  const std::string_view meant = nearest(word, names);
  err << "heatsink: unknown verb '" << printable(word, 64) << "'";
  if (!meant.empty()) err << ": did you mean '" << meant << "'?";
  err << " ('heatsink --help' lists them)\n";
  return kMisused;
}

}  // namespace

int dispatch(std::span<const Verb> verbs, int argc, char** argv, std::ostream& out,
             std::ostream& err) {
  if (argc < 2) {
    print_help(verbs, err);
    return kMisused;
  }
  const std::string_view word = argv[1];
  if (word == "help" && argc == 3) {
    char help[] = "--help";
    char* asked[] = {argv[0], argv[2], help, nullptr};
    return dispatch(verbs, 3, asked, out, err);
  }
  if (word == "--help" || word == "-h" || word == "help") {
    print_help(verbs, out);
    return kDone;
  }
  if (word == "--version") {
    out << "heatsink " << version() << "\n";
    return kDone;
  }
  const auto verb =
      std::find_if(verbs.begin(), verbs.end(), [&](const Verb& v) { return v.name == word; });
  if (verb == verbs.end()) return refuse_unknown(word, verbs, err);
  std::string program = "heatsink " + std::string(verb->name);
  std::vector<char*> arguments(argv + 1, argv + argc + 1);  // ends with a null pointer
  arguments[0] = program.data();
  return verb->run(argc - 1, arguments.data());
}

}  // namespace heatsink::app
