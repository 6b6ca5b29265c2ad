// SPDX-License-Identifier: Apache-2.0
// heatsink top: the hot keys of a running proxy, or of any server, live.
#include <CLI/CLI.hpp>
#include <iostream>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/top_server_flags.h"
#include "apps/heatsink/top_session.h"
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

// What is shown of an answer.
void add_choices(CLI::App& app, TopOptions& options, CLI::Option* json) {
  RowChoices& rows = options.rows;
  add_parsed_flag(
      app, "--sort", rows.order, [](const std::string& text) { return parse_order(text); }, "rate",
      "By rate, bytes, share, reads, writes, hits or misses; with '-' before it the least first")
      ->type_name("ORDER");
  add_parsed_flag(
      app, "--filter", rows.filter, [](const std::string& text) { return parse_filter(text); }, "",
      "Only keys that begin so or match a pattern, and words such as db=0 command=GET client=10.0.")
      ->type_name("FILTER");
  app.add_option("--limit", rows.limit,
                 "At most so many rows; 0: all (20 for text that is no terminal)")
      ->check(between(0, static_cast<double>(kKeysShownMax)))
      ->type_name("N");
  app.add_flag("--templates", rows.templates,
               "Keys whose names differ only in numbers and ids are one row: user:*:cart")
      ->excludes(json);
  app.add_flag_callback(
      "--no-color", [&options] { options.colors = tui::Colors::kNone; },
      "Without colours, as with NO_COLOR=1");
}

}  // namespace

int run_top(int argc, char** argv) {
  TopOptions options;
  CLI::App app(
      "Shows the hot keys of a running proxy, or of any server, live: rate with bounds, share, "
      "who.",
      argv[0]);
  add_parsed_flag(
      app, "--admin", options.admin,
      [](const std::string& text) { return net::parse_host_port(text); }, options.admin.text(),
      "The proxy's admin address")
      ->type_name("HOST:PORT");
  add_parsed_flag(
      app, "--token-file", options.token,
      [](const std::string& path) { return read_secret_file(path); }, "",
      "The file with the proxy's admin.token")
      ->type_name("FILE");
  add_parsed_flag(app, "--interval", options.interval, parse_interval,
                  format_duration(options.interval), "How often to ask")
      ->type_name("DURATION");
  add_duration_flag(app, "--for", options.run_for, "End after this time; 0: run until ended");
  app.add_flag("--once", options.once, "Print one answer and end; exit code 1 if there is none");
  auto* json = app.add_flag("--json", options.json, "Print the answers as JSON, one per line");
  auto* csv =
      app.add_flag("--csv", options.csv, "Print the keys of each answer as CSV, with the time")
          ->excludes(json);
  app.add_flag_callback(
         "--spreadsheet", [&options] { options.csv_text = CsvText::kDefused; },
         "With --csv: an apostrophe before names that a spreadsheet would take for a formula")
      ->needs(csv);
  add_choices(app, options, json);
  app.add_option("--record", options.record_file,
                 "Append the answers to this file, for 'heatsink replay'; zstd if it ends in .zst")
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
  return run_top_session(options);
}

}  // namespace heatsink::app
