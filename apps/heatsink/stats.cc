// SPDX-License-Identifier: Apache-2.0
// heatsink stats: prints window statistics that processes have added on a server.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/password.h"
#include "apps/heatsink/stats_report.h"
#include "apps/heatsink/top_server_flags.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/log.h"
#include "heatsink/base/printable.h"
#include "heatsink/distributed/distributed.h"
#include "heatsink/net/net.h"

namespace heatsink::app {
namespace {

constexpr std::size_t kTableRowsMax = 200;

struct StatsOptions {
  std::string name;  // as typed; a glob shows all matching ones
  Nanos window = std::chrono::seconds(60);
  Nanos every = std::chrono::seconds(1);
  Nanos timeout = std::chrono::seconds(5);
  bool json = false;
  bool watch = false;

  TimePoint deadline() const { return BootClock::now() + timeout; }
  bool is_pattern() const { return name.find_first_of("*?[") != std::string::npos; }
};

Result<std::vector<NamedReading>> read_all(distributed::Server& server, const StatsOptions& options,
                                           const std::vector<std::string>& names) {
  std::vector<NamedReading> all;
  for (const std::string& name : names) {
    auto reading = distributed::read_statistic(
        server, name, std::chrono::ceil<Millis>(options.window), options.deadline());
    if (reading.ok())
      all.push_back({name, std::move(reading).value()});
    else if (reading.error().code != ErrorCode::kNotFound)  // it has expired since the listing
      return reading.error();
  }
  return all;
}

Result<std::string> told(distributed::Server& server, const StatsOptions& options) {
  if (!options.is_pattern()) {
    const std::string name = from_printable(options.name);
    auto reading = distributed::read_statistic(
        server, name, std::chrono::ceil<Millis>(options.window), options.deadline());
    if (!reading.ok()) return reading.error();
    const NamedReading one{name, std::move(reading).value()};
    return options.json ? stats_json(one) : stats_text(one);
  }
  auto names = distributed::list_statistics(server, options.name, options.deadline());
  if (!names.ok()) return names.error();
  if (names->size() > kTableRowsMax)
    return Error{ErrorCode::kOutOfRange,
                 std::to_string(names->size()) +
                     " statistics match, and at most 200 are shown: " + "use a narrower pattern"};
  const auto all = read_all(server, options, *names);
  if (!all.ok()) return all.error();
  if (all->empty() && !options.json)
    return Error{ErrorCode::kNotFound, "no statistic matches " + options.name};
  return options.json ? stats_json(*all) : stats_table(*all);
}

int show(distributed::Server& server, const StatsOptions& options) {
  for (;;) {
    const Result<std::string> text = told(server, options);
    if (text.ok())
      std::cout << *text << std::flush;
    else
      std::cerr << "heatsink stats: " << one_line(text.error().message, 2000) << std::endl;
    if (!options.watch) return text.ok() ? kDone : kFailed;
    if (!std::cout) return kDone;  // the reader has gone
    std::this_thread::sleep_for(options.every);
    if (!options.json) std::cout << '\n';
  }
}

Result<std::unique_ptr<distributed::Server>> open(const ServerFlags& flags, Nanos timeout) {
  const auto server = observed_server(flags);
  if (!server.ok()) return server.error();
  distributed::ServerOptions options;
  const std::string url = net::with_scheme(flags.url);
  const bool has_one = !net::parse_redis_url(url)->password.empty();
  options.url = has_one ? url : with_password(url, (*server)->url->password);
  options.tls_ca = flags.tls_ca_file;
  options.connect_timeout = options.response_timeout = timeout;
  options.client_name = "heatsink-stats";
  return distributed::Server::open(options);
}

void add_flags(CLI::App& app, StatsOptions& options, ServerFlags& server) {
  app.add_option("SERVER", server.url,
                 "Server that keeps the statistics: redis://[user@]host[:port], rediss:// for TLS, "
                 "unix:///path; of a cluster any node")
      ->required();
  app.add_option("NAME", options.name,
                 "Name of a statistic, bytes as they are shown; "
                 "a glob (\"api:*\") prints a table of all that match")
      ->default_str("*");
  add_duration_flag(app, "--window", options.window,
                    "Length of the window; at most the time that the statistic is kept");
  app.add_flag("--json", options.json, "Print one line of JSON");
  app.add_flag("--watch", options.watch, "Repeat until interrupted");
  add_duration_flag(app, "--every", options.every, "Pause between repetitions, with --watch");
  add_duration_flag(app, "--timeout", options.timeout, "Time limit for each answer of the server");
  app.add_option("--password-file", server.password_file,
                 "File whose first line is the server's password (or set REDISCLI_AUTH)")
      ->type_name("FILE");
  app.add_option("--tls-ca", server.tls_ca_file,
                 "File with the CAs that sign the server's certificate (PEM)")
      ->type_name("FILE");
  app.footer(
      "Exit code: 0, or 1 if there is no such statistic or the server does not answer. "
      "A table scans all keys of the server, in steps; in a cluster only the keys of this node.");
}

}  // namespace

int run_stats(int argc, char** argv) {
  StatsOptions options;
  ServerFlags server;
  CLI::App app(
      "Shows window statistics: what all processes added in the last minute, or in --window.",
      argv[0]);
  add_flags(app, options, server);
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  if (options.name.empty()) options.name = "*";
  if (options.window <= Nanos(0) || options.every < Millis(10) || options.timeout <= Nanos(0)) {
    std::cerr << argv[0]
              << ": --window and --timeout must be longer than 0, and --every at least 10ms\n";
    return kMisused;
  }
  set_log_level(LogLevel::kOff);  // errors are printed once, by this verb
  auto opened = open(server, options.timeout);
  if (!opened.ok()) {
    std::cerr << argv[0] << ": " << one_line(opened.error().message) << "\n";
    return kMisused;
  }
  return show(**opened, options);
}

}  // namespace heatsink::app
