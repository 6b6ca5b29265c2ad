// SPDX-License-Identifier: Apache-2.0
// heatsink top: shows the hot keys of a running proxy, or of any server, live.
#include <CLI/CLI.hpp>
#include <chrono>
#include <iostream>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/history/moment_text.h"
#include "apps/heatsink/top/session.h"
#include "apps/heatsink/top_server_flags.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/secret_file.h"

namespace heatsink::app {
namespace {

Result<Nanos> parse_interval(const std::string& text) {
  Result<Nanos> interval = parse_duration(text);
  if (!interval) return interval;
  if (*interval < Millis(100) || *interval > std::chrono::hours(1)) {
    return Error{ErrorCode::kOutOfRange, "an interval must be from 100ms to 1h"};
  }
  return interval;
}

// The flags that choose what is shown.
void add_choices(CLI::App& app, TopOptions& options, CLI::Option* json) {
  RowChoices& rows = options.rows;
  add_parsed_flag(
      app, "--sort", rows.order, [](const std::string& text) { return parse_order(text); }, "rate",
      "Sort by rate, bytes, share, reads, writes, hits or misses; with '-' before it, lowest first")
      ->type_name("ORDER");
  add_parsed_flag(
      app, "--filter", rows.filter, [](const std::string& text) { return parse_filter(text); }, "",
      "Show only keys with this prefix or pattern; "
      "also words such as db=0 command=GET client=10.0.")
      ->type_name("FILTER");
  app.add_option("--limit", rows.limit,
                 "Maximum number of rows; 0: all (as text, but not on a terminal: 20)")
      ->check(between(0, static_cast<double>(kKeysShownMax)))
      ->type_name("N");
  app.add_flag("--templates", rows.templates,
               "Show keys whose names differ only in numbers and ids as one row: user:*:cart")
      ->excludes(json);
  app.add_flag_callback(
      "--no-color", [&options] { options.colors = tui::Colors::kNone; },
      "Use no colours, as with NO_COLOR=1");
}

CLI::Option* add_at_flag(CLI::App& app, TopOptions& options) {
  return add_parsed_flag(
             app, "--at", options.at,
             [](const std::string& text) -> Result<std::optional<WallTime>> {
               Result<WallTime> moment = parse_moment(text, std::chrono::system_clock::now());
               if (!moment) return moment.error();
               return std::optional<WallTime>(*moment);
             },
             "",
             "Begin with what was hot then, from the proxy's history: 15:00, '2026-11-28 15:00', "
             "90m (so long ago)")
      ->type_name("TIME");
}

// Null: there is none.
const char* fault_of_moment(const TopOptions& options) {
  if (!options.at) return nullptr;
  if (options.server) return "only a proxy has a history from before; leave the server out";
  if (*options.at >= std::chrono::system_clock::now()) return "that moment has not come yet";
  return nullptr;
}

}  // namespace

int run_top(int argc, char** argv) {
  TopOptions options;
  CLI::App app(
      "Shows the hot keys of a running proxy, or of any server, live: rates with bounds, shares, "
      "clients.",
      argv[0]);
  add_parsed_flag(
      app, "--admin", options.admin,
      [](const std::string& text) { return net::parse_host_port(text); }, options.admin.text(),
      "Admin address of the proxy")
      ->type_name("HOST:PORT");
  add_parsed_flag(
      app, "--token-file", options.token,
      [](const std::string& path) { return read_secret_file(path); }, "",
      "File with the admin token of the proxy")
      ->type_name("FILE");
  add_parsed_flag(app, "--interval", options.interval, parse_interval,
                  format_duration(options.interval), "Time between two answers")
      ->type_name("DURATION");
  add_duration_flag(app, "--for", options.run_for,
                    "Stop after this time; 0: run until interrupted");
  CLI::Option* const at = add_at_flag(app, options);
  app.add_flag("--once", options.once, "Print one answer and exit; exit code 1 if there is none");
  auto* json =
      app.add_flag("--json", options.json, "Print the answers as JSON, one per line")->excludes(at);
  auto* csv =
      app.add_flag("--csv", options.csv, "Print the keys of each answer as CSV, with a timestamp")
          ->excludes(json)
          ->excludes(at);
  app.add_flag_callback(
         "--spreadsheet", [&options] { options.csv_text = CsvText::kDefused; },
         "With --csv: put an apostrophe before names that a spreadsheet would read as a formula")
      ->needs(csv);
  add_choices(app, options, json);
  app.add_option("--record", options.record_file,
                 "Append the answers to this file, for 'heatsink replay'; "
                 "compressed with zstd if it ends in .zst")
      ->type_name("FILE");
  ServerFlags server;
  add_server_flags(app, server);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  auto observed = observed_server(server);
  if (!observed) {
    std::cerr << argv[0] << ": " << one_line(observed.error().message) << "\n";
    return kMisused;
  }
  options.server = std::move(observed).value();
  if (const char* const fault = fault_of_moment(options); fault != nullptr) {
    std::cerr << argv[0] << ": --at: " << fault << "\n";
    return kMisused;
  }
  return run_top_session(options);
}

}  // namespace heatsink::app
