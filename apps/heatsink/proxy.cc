// SPDX-License-Identifier: Apache-2.0
// heatsink proxy: runs the proxy until a signal ends it.
#include <unistd.h>
#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <random>
#include <string>
#include <thread>

#include "apps/heatsink/configuration.h"
#include "apps/heatsink/metrics.h"
#include "apps/heatsink/password.h"
#include "apps/heatsink/process/end_within.h"
#include "apps/heatsink/stats_source.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/admin/admin.h"
#include "heatsink/base/log.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/base/timed_write.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/proxy.h"
#include "heatsink/report/report.h"

namespace heatsink::app {
namespace {

constexpr Millis kFirstContact(2000);  // how long "ready" waits for the server's first answer
// maximum time after SIGINT or SIGTERM, whatever the server does
constexpr Millis kEndWithin(5000);
constexpr Millis kReader(1000);    // maximum wait for a reader of our output that has stopped
constexpr Millis kLastLines(500);  // at the end, to write the log

struct ProxyFlags {
  ConfigurationFlags configuration;
  std::string listen, upstream, admin, workers;
};

// Applies the file and --set first, then the verb's flags.
ConfigFaults configure(const ProxyFlags& flags, policy::ProxyOptions& proxy) {
  OptionSet options;
  proxy.describe(options);
  ConfigFaults faults = apply_configuration(flags.configuration, options);
  const std::pair<const char*, const std::string&> own[] = {{"proxy.listen", flags.listen},
                                                            {"upstream.url", flags.upstream},
                                                            {"admin.listen", flags.admin},
                                                            {"proxy.workers", flags.workers}};
  for (const auto& [name, text] : own) {
    if (text.empty()) continue;
    if (const Status set = options.set(name, text); !set.ok()) faults.push_back(set.error());
  }
  add_contradictions(proxy, options, faults);
  return faults;
}

LogFormat log_format_of(const policy::ProxyOptions& options) {
  return options.log_format == "json" ? LogFormat::kJson : LogFormat::kText;
}

std::uint64_t random_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

// Blocks the signals that end the proxy, and SIGHUP, in all threads started from here on.
sigset_t block_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a log at its `ulimit -f` loses lines, not the proxy
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  return ending;
}

Result<std::string> token_of(const policy::ProxyOptions& options) {
  return options.admin_token_file.empty() ? options.admin_token
                                          : read_secret_file(options.admin_token_file);
}

Result<std::unique_ptr<httpd::HttpServer>> start_admin(const policy::ProxyOptions& options,
                                                       proxy::Proxy& proxy) {
  if (options.admin == "off") return std::unique_ptr<httpd::HttpServer>();
  Result<std::string> token = token_of(options);
  if (!token.ok()) return token.error();
  Result<net::HostPort> listen = net::parse_host_port(options.admin);
  if (!listen.ok()) return listen.error();
  admin::Sources sources;
  sources.report = [&proxy] { return proxy.report(); };
  sources.events = [&proxy] { return proxy.events(); };
  sources.metrics = [&proxy] { return admin::metrics_text(all_samples(proxy)); };
  sources.warm = [&proxy](report::WarmOrder order) { return proxy.warm(std::move(order)); };
  sources.warmed = [&proxy](std::uint64_t search) { return proxy.warmed(search); };
  sources.key = [&proxy](std::string name, std::uint32_t db) {
    return proxy.inspect(std::move(name), db);
  };
  sources.ready = [&proxy] { return proxy.ready(); };
  sources.statistic = statistic_source(options);
  return httpd::HttpServer::start({.listen = *listen, .token = *token},
                                  admin::pages_of(std::move(sources)));
}

// Checked before any thread starts, so that a proxy never starts halfway.
Status check_admin(const policy::ProxyOptions& options) {
  if (options.admin == "off") return Unit{};
  if (const Result<std::string> token = token_of(options); !token.ok()) return token.error();
  const Status unused = net::check_unused(*net::parse_host_port(options.admin));
  return unused.ok() ? unused
                     : Error{unused.error().code, "admin.listen: " + unused.error().message};
}

// Signals are blocked here, so an endless wait for a stopped reader could not be ended.
int fail(const Error& error) {
  write_within(STDERR_FILENO, "heatsink proxy: " + error.message + "\n", kReader);
  return kFailed;
}

void say_ready(const policy::ProxyOptions& options, const proxy::Proxy& proxy,
               const httpd::HttpServer* admin) {
  const TimePoint limit = BootClock::now() + kFirstContact;
  while (!proxy.ready().ok() && BootClock::now() < limit) std::this_thread::sleep_for(Millis(10));
  const Status ready = proxy.ready();
  net::Endpoint listening = *net::parse_endpoint(options.listen);
  listening.tcp.port = proxy.port();
  const std::string line =
      "heatsink proxy is ready: clients " + listening.text() + ", upstream " +
      net::parse_redis_url(options.upstream)->display() +
      (ready.ok() ? "" : " (not reachable yet)") + ", admin " +
      (admin != nullptr ? "http://" + admin->address().text() : std::string("off")) + "\n";
  if (!write_within(STDOUT_FILENO, line, kReader))
    log(LogLevel::kWarning, "the standard output is not being read; the line was: " + line);
}

// Returns the signal that ends the proxy. SIGHUP only reopens the log's file and reloads
// certificates.
int wait_for_end(const sigset_t& signals, proxy::Proxy& proxy) {
  int signal = 0;
  while (sigwait(&signals, &signal) == 0 && signal == SIGHUP) {
    if (const Status reopened = reopen_log(); !reopened.ok())
      log(LogLevel::kError, "SIGHUP: cannot reopen the log, so the old file is still in use: " +
                                reopened.error().message);
    const Status read = proxy.reload_tls();
    log(read.ok() ? LogLevel::kInfo : LogLevel::kError,
        read.ok() ? "SIGHUP: certificates reloaded"
                  : "SIGHUP: cannot reload the certificates, so the old ones are still in use: " +
                        read.error().message);
  }
  return signal;
}

}  // namespace

int run_proxy(int argc, char** argv) {
  CLI::App app(
      "Runs the proxy in front of a Redis or Valkey server: it finds the hot keys and serves them "
      "from coherent local copies.");
  ProxyFlags flags;
  app.add_option(
      "--listen", flags.listen,
      "Address that clients connect to, host:port or unix:/path (default 127.0.0.1:6380)");
  app.add_option("--upstream", flags.upstream,
                 "The server: redis://[user@]host[:port], rediss:// for TLS, or unix:///path "
                 "(default redis://127.0.0.1:6379); for its password use --set "
                 "upstream.password-file=FILE, or HEATSINK_UPSTREAM_PASSWORD");
  app.add_option("--admin", flags.admin,
                 "Address of the admin API, host:port, or off (default 127.0.0.1:6390)");
  app.add_option("--workers", flags.workers,
                 "Threads that serve clients; 0: one per core (default 0)");
  add_configuration_flags(app, flags.configuration);
  if (const auto code = parse_flags(app, argc, argv)) return *code;

  net::count_tls_memory();
  policy::ProxyOptions options;
  const ConfigFaults faults = configure(flags, options);
  print_faults(faults, "heatsink proxy", std::cerr);
  if (!faults.empty()) return kMisused;
  if (const Status taken = take_password(options); !taken.ok()) return fail(taken.error());

  set_log_level(*parse_log_level(options.log_level));
  if (const Status opened = set_log_output(options.log_file, log_format_of(options)); !opened.ok())
    return fail({opened.error().code, "log.file: " + opened.error().message});
  if (const Status unused = check_admin(options); !unused.ok()) return fail(unused.error());

  const sigset_t ending = block_signals();
  Result<std::unique_ptr<proxy::Proxy>> proxy = proxy::Proxy::start(options, random_seed());
  if (!proxy.ok()) return fail(proxy.error());
  Result<std::unique_ptr<httpd::HttpServer>> admin = start_admin(options, **proxy);
  if (!admin.ok()) return fail(admin.error());
  say_ready(options, **proxy, admin->get());

  const int signal = wait_for_end(ending, **proxy);
  log(LogLevel::kInfo,
      signal == SIGINT ? "received SIGINT: shutting down" : "received SIGTERM: shutting down");
  const EndWithin bound(kEndWithin);
  admin->reset();
  proxy->reset();
  flush_log(kLastLines);
  return kDone;
}

}  // namespace heatsink::app
