// SPDX-License-Identifier: Apache-2.0
// heatsink history: tells what was hot in a time, from the file that a proxy keeps.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>
#include <string>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/history/answer.h"
#include "apps/heatsink/history/answer_json.h"
#include "apps/heatsink/history/moment_text.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/printable.h"

namespace heatsink::app {
namespace {

struct HistoryFlags {
  HistoryQuestion question{.path = "/var/lib/heatsink/history.db"};
  std::string key;
  std::uint32_t db = 0;
  bool json = false;
};

void add_flags(CLI::App& app, HistoryFlags& flags, WallTime now) {
  HistoryQuestion& question = flags.question;
  question.from = now - std::chrono::hours(1);
  question.to = now;
  const auto moment = [now](const std::string& text) { return parse_moment(text, now); };
  app.add_option("FILE", question.path, "history.file of the proxy")->capture_default_str();
  add_parsed_flag(app, "--from", question.from, moment, "1h",
                  "Begin of the time: 15:00, 'yesterday 15:00', '2026-11-28 15:00', "
                  "2026-11-28T15:00:00Z, or 90m (so long ago)")
      ->type_name("TIME");
  add_parsed_flag(app, "--to", question.to, moment, "now", "End of the time, as --from")
      ->type_name("TIME");
  app.add_option(
         "--key", flags.key,
         "Only this key, in more detail; bytes as heatsink top shows them, as in user:\\x00")
      ->type_name("KEY");
  app.add_option("--db", flags.db, "With --key, only in this database")->type_name("N");
  const auto show = [&](const char* flag, heat::Kind kind, const char* help) {
    app.add_flag_callback(
           flag, [&question, kind] { question.kind = kind; }, help)
        ->excludes("--key");
  };
  show("--templates", heat::Kind::kTemplate, "Show templates (user:*) instead of keys");
  show("--clients", heat::Kind::kClient, "Show the addresses of clients, by commands");
  show("--nodes", heat::Kind::kNode, "Show the nodes of a cluster, by commands sent to them");
  show("--slots", heat::Kind::kSlot, "Show the slots of a cluster, by commands sent to them");
  app.add_option("--rows", question.rows, "Maximum number of rows")
      ->type_name("N")
      ->check(between(1, 200))
      ->capture_default_str();
  app.add_flag("--json", flags.json, "Print one line of JSON");
  app.footer(
      "Rates of keys are proven: at least so much. "
      "Exit code: 0; 1 if the file cannot be read, or nothing was counted in that time.");
}

}  // namespace

int run_history(int argc, char** argv) {
  HistoryFlags flags;
  CLI::App app(
      "Tells what was hot in a time, what was done, and what it saved, "
      "from the file that a proxy keeps (history.file). Needs no proxy.",
      argv[0]);
  add_flags(app, flags, std::chrono::system_clock::now());
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  HistoryQuestion& question = flags.question;
  if (app.count("--key") > 0) question.key = from_printable(flags.key);
  if (app.count("--db") > 0) question.db = flags.db;
  if (question.to <= question.from) {
    std::cerr << "heatsink history: --to " << day_text(question.to) << " is not after --from "
              << day_text(question.from) << "\n";
    return kMisused;
  }
  const Result<HistoryAnswer> found = answer(question);
  if (!found.ok()) {
    std::cerr << "heatsink history: " << one_line(found.error().message) << "\n";
    return kFailed;
  }
  std::cout << (flags.json ? history_json(question, *found) : history_text(question, *found))
            << std::flush;
  return found->counted_s > 0 && std::cout.good() ? kDone : kFailed;
}

}  // namespace heatsink::app
