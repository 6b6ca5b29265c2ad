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
    return Error{ErrorCode::kOutOfRange, "an interval is between 100ms and 1h"};
  }
  return interval;
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
  app.add_flag("--json", options.json, "Print the answers as JSON, one per line");
  app.add_option("--record", options.record_file,
                 "Append the answers to this file, for 'heatsink replay'; zstd if it ends in .zst")
      ->type_name("FILE");
  ServerFlags server;
  add_server_flags(app, server);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  auto observed = observed_server(server);
  if (!observed) {
    std::cerr << argv[0] << ": " << printable(observed.error().message) << "\n";
    return kMisused;
  }
  options.server = std::move(observed).value();
  return run_top_session(options);
}

}  // namespace heatsink::app
