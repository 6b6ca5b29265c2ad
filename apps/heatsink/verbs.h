// SPDX-License-Identifier: Apache-2.0
// Lists the verbs of the binary. To add one: a file <verb>.cc with run_<verb>, its line here, its
// row in verbs.cc.
#pragma once

#include <iosfwd>
#include <span>
#include <string_view>

#include "apps/heatsink/process/exit_code.h"

namespace heatsink::app {

// Runs the verb and returns the exit code. argv[0] is "heatsink <verb>", followed by the verb's
// arguments; argv[argc] is null.
using RunVerb = int (*)(int argc, char** argv);

struct Verb {
  std::string_view name;
  std::string_view help;  // one sentence
  RunVerb run;
};

int run_alert(int argc, char** argv);
int run_completion(int argc, char** argv);
int run_config(int argc, char** argv);
int run_doctor(int argc, char** argv);
int run_drop(int argc, char** argv);
int run_explain(int argc, char** argv);
int run_health(int argc, char** argv);
int run_history(int argc, char** argv);
int run_load(int argc, char** argv);
int run_man(int argc, char** argv);
int run_proxy(int argc, char** argv);
int run_replay(int argc, char** argv);
int run_rule(int argc, char** argv);
int run_stats(int argc, char** argv);
int run_top(int argc, char** argv);
int run_warm(int argc, char** argv);
int run_watch(int argc, char** argv);

// In the order --help shows them.
std::span<const Verb> verbs();

// Runs `heatsink VERB ...`, --help and --version. Anything else: a message on `err`, and kMisused.
int dispatch(std::span<const Verb> verbs, int argc, char** argv, std::ostream& out,
             std::ostream& err);

}  // namespace heatsink::app
