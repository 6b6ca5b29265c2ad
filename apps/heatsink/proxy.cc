// SPDX-License-Identifier: Apache-2.0
// heatsink proxy: runs the proxy until a signal ends it.
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <csignal>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <thread>

#include "apps/heatsink/advice_json.h"
#include "apps/heatsink/alert_watch.h"
#include "apps/heatsink/configuration.h"
#include "apps/heatsink/hand_over.h"
#include "apps/heatsink/history_file.h"
#include "apps/heatsink/live_configuration.h"
#include "apps/heatsink/metrics.h"
#include "apps/heatsink/password.h"
#include "apps/heatsink/process/end_within.h"
#include "apps/heatsink/process/service_manager.h"
#include "apps/heatsink/process/watchdog.h"
#include "apps/heatsink/proxy_flags.h"
#include "apps/heatsink/proxy_wiring.h"
#include "apps/heatsink/take_over.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/admin/admin.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/log.h"
#include "heatsink/base/timed_write.h"
#include "heatsink/base/units.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/proxy.h"
#include "heatsink/report/replicas_report.h"
#include "heatsink/report/report.h"
#include "heatsink/topology/topology.h"

namespace heatsink::app {
namespace {

// How long drain_clients() takes at most.
constexpr Nanos drain_limit(Nanos drain) {
  constexpr Nanos kToCut = Millis(250);  // the workers' next look at their clients
  return drain > Nanos(0) ? drain + proxy::Drain::kLast + kToCut : Nanos(0);
}

constexpr Nanos kDrainLook = Millis(20);
constexpr Nanos kLogInterval = std::chrono::seconds(2);

// Whether one of the signals that end the proxy came within kDrainLook.
bool told_again(const sigset_t& signals) {
  const timespec wait{0, kDrainLook.count()};
  const int signal = sigtimedwait(&signals, nullptr, &wait);
  return signal == SIGTERM || signal == SIGINT;
}

std::string clients(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " client" : " clients");
}

std::string words_for(const proxy::Proxy::Draining& state) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : state.left) all += count;
  const std::string why = proxy::describe_stays(state.left);
  return clients(all) + (all == 1 ? " remains" : " remain") + (why.empty() ? "" : ": " + why);
}

// Drains for at most `drain` (shutdown.drain; 0: not at all), or until SIGTERM or SIGINT comes
// again. REQUIRES that all threads block `signals`. Logs how many clients remain, and why.
void drain_clients(proxy::Proxy& proxy, Nanos drain, const sigset_t& signals) {
  if (drain <= Nanos(0)) return;
  const TimePoint begin = BootClock::now();
  log(LogLevel::kInfo, "draining: no new clients; the present ones have " + format_duration(drain) +
                           " (shutdown.drain) to end what they have begun");
  proxy.begin_drain(drain);
  TimePoint log_at = begin + kLogInterval;
  proxy::Proxy::Draining state = proxy.draining();
  while (!state.over && BootClock::now() < begin + drain_limit(drain)) {
    const bool ends = told_again(signals);
    state = proxy.draining();
    if (ends) {
      log(LogLevel::kWarning, "a second signal ended the draining; " + words_for(state));
      return;
    }
    if (state.over || BootClock::now() < log_at) continue;
    log_at += kLogInterval;
    log(LogLevel::kInfo, "draining: " + words_for(state));
  }
  const std::string cut =
      state.cut == 0 ? "" : ", " + clients(state.cut) + " cut because shutdown.drain was over";
  log(state.cut == 0 ? LogLevel::kInfo : LogLevel::kWarning,
      "drained: " + clients(state.closed) + " closed after all replies" + cut);
}

constexpr Millis kFirstContact(2000);  // how long "ready" waits for the server's first answer
// maximum time after the draining, whatever the server does
constexpr Millis kEndWithin(5000);
constexpr Millis kReader(1000);    // maximum wait for a reader of our output that has stopped
constexpr Millis kLastLines(500);  // at the end, to write the log

std::uint64_t random_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

// Blocks the signals that end the proxy, SIGHUP and SIGUSR2, in all threads started from here on.
sigset_t block_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGCHLD, SIG_DFL);  // a parent may have it ignored: then no child has an exit status
  std::signal(SIGXFSZ, SIG_IGN);  // a log at its `ulimit -f` loses lines, not the proxy
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGHUP);
  sigaddset(&ending, SIGUSR2);
  pthread_sigmask(SIG_BLOCK, &ending, nullptr);
  return ending;
}

// With the URL of the server now.
policy::ProxyOptions options_now(const proxy::Proxy& proxy) {
  policy::ProxyOptions options = proxy.options();
  if (const Result<net::RedisUrl> now = proxy.upstream(); now.ok())
    options.upstream = with_password(now->display(), now->password);
  return options;
}

// Observers of the running proxy, each on threads of its own. Null: it is not wanted.
struct Watches {
  std::unique_ptr<doctor::Watch> doctor;
  std::unique_ptr<alerts::Alerter> alerts;
  const history::Writer* history = nullptr;  // it records since before the proxy began
};

Result<Watches> start_watches(const policy::ProxyOptions& options, const proxy::Proxy& proxy,
                              const history::Writer* history) {
  Result<std::unique_ptr<alerts::Alerter>> alerts = watch_for_alerts(options, proxy);
  if (!alerts.ok()) return alerts.error();
  return Watches{watch_deployment(options, proxy), std::move(alerts).value(), history};
}

Result<std::unique_ptr<httpd::HttpServer>> start_admin(const policy::ProxyOptions& options,
                                                       proxy::Proxy& proxy, LiveConfiguration& live,
                                                       const Watches& watches, int listener) {
  if (options.admin == "off") return std::unique_ptr<httpd::HttpServer>();
  Result<httpd::Tokens> token = token_of(options);
  if (!token.ok()) return token.error();
  Result<net::HostPort> listen = net::parse_host_port(options.admin);
  if (!listen.ok()) return listen.error();
  admin::Sources sources;
  sources.report = [&proxy] { return proxy.report(); };
  add_events(sources, proxy, options.history_file);
  sources.slots = [&proxy] { return slots_json(proxy.report()); };
  sources.metrics = [&proxy, &live, history = watches.history, alerts = watches.alerts.get()] {
    return admin::metrics_text(all_samples(proxy, live, history, alerts));
  };
  sources.warm = [&proxy](report::WarmOrder order) { return proxy.warm(std::move(order)); };
  sources.warmed = [&proxy](std::uint64_t search) { return proxy.warmed(search); };
  sources.key = [&proxy](const std::string& name, std::uint32_t db) {
    return proxy.inspect(name, db);
  };
  sources.drop = [&proxy](report::WarmKey key, std::string_view who) {
    return proxy.drop_copies(std::move(key), std::string(who));
  };
  sources.hides_names = proxy.shown().redacts();
  sources.note_order = [&proxy](std::string what, report::WarmKey key) {
    proxy.add_order_event(std::move(what), std::move(key));
  };
  add_heatmap(sources, proxy, options.history_file);
  add_sums(sources, proxy, options.history_file);
  sources.advice = [&proxy](httpd::Now now) {
    const report::Report report = proxy.report();
    return advice_json(report, now.wall_at(report.at));
  };
  sources.explain = [&proxy](const std::string& name, std::uint32_t db, httpd::Now now) {
    return explained_json(proxy.inspect(name, db), now.boot, now.wall);
  };
  sources.replicas = [&proxy] { return report::replicas_json(proxy.replicas()); };
  add_health(sources, proxy, watches.doctor.get(), watches.history);
  sources.alive = [&proxy] { return proxy.alive(BootClock::now()); };
  sources.statistic = statistic_source([&proxy] { return options_now(proxy); });
  add_config_pages(sources, live);
  return httpd::HttpServer::start({.listen = *listen, .listener = listener, .token = *token},
                                  admin::pages_of(std::move(sources)));
}

// Checked before any thread starts, so that a proxy never starts halfway.
Status check_admin(const policy::ProxyOptions& options, bool has_listener) {
  if (options.admin == "off") return Unit{};
  if (const Result<httpd::Tokens> token = token_of(options); !token.ok()) return token.error();
  if (has_listener) return Unit{};
  const Status unused = net::check_unused(*net::parse_host_port(options.admin));
  return unused.ok() ? unused
                     : Error{unused.error().code, "admin.listen: " + unused.error().message};
}

// Signals are blocked here, so an endless wait for a stopped reader could not be ended.
int fail(const Error& error) {
  write_within(STDERR_FILENO, "heatsink proxy: " + error.message + "\n", kReader);
  return kFailed;
}

// The configured URL, and the server behind it if that one had to be found.
std::string shown_upstream(const policy::ProxyOptions& options, const proxy::Proxy& proxy) {
  const net::RedisUrl url = *net::parse_upstream_url(options.upstream);
  const Result<net::RedisUrl> found = proxy.upstream();
  if (!topology::must_be_found(url) || !found.ok()) return url.display();
  return url.display() + " (master " + found->where() + ")";
}

// Clients of the process before this one keep connections to the master.
void wait_for_master(const policy::ProxyOptions& options, const proxy::Proxy& proxy) {
  if (!topology::must_be_found(*net::parse_upstream_url(options.upstream))) return;
  const TimePoint limit = BootClock::now() + kFirstContact;
  while (!proxy.upstream().ok() && BootClock::now() < limit)
    std::this_thread::sleep_for(Millis(10));
}

// Returns the line that it prints.
std::string say_ready(const policy::ProxyOptions& options, const proxy::Proxy& proxy,
                      const httpd::HttpServer* admin) {
  const TimePoint limit = BootClock::now() + kFirstContact;
  while (!proxy.ready().ok() && BootClock::now() < limit) std::this_thread::sleep_for(Millis(10));
  const Status ready = proxy.ready();
  net::Endpoint listening = *net::parse_endpoint(options.listen);
  listening.tcp.port = proxy.port();
  std::string line =
      "heatsink proxy is ready: clients " + listening.text() + ", upstream " +
      shown_upstream(options, proxy) + (ready.ok() ? "" : " (not reachable yet)") + ", admin " +
      (admin != nullptr ? "http://" + admin->address().text() : std::string("off")) + "\n";
  if (!write_within(STDOUT_FILENO, line, kReader))
    log(LogLevel::kWarning, "the standard output is not being read, so the line is here: " + line);
  return line;
}

// Returns the signal that ends the proxy; 0: another process has taken over. SIGHUP reopens the
// log's file, and reads the configuration and the certificates again.
int wait_for_end(const sigset_t& signals, LiveConfiguration& live, const ServiceManager& manager,
                 const std::string& status, HandOver& hand_over) {
  int signal = 0;
  while ((signal = next_signal(signals, hand_over)) == SIGHUP) {
    manager.reloading(monotonic_now());
    if (const Status reopened = reopen_log(); !reopened.ok())
      log(LogLevel::kError, "SIGHUP: cannot reopen the log, so the old file is still in use: " +
                                reopened.error().message + ": mend that, and send SIGHUP again");
    static_cast<void>(live.reload());
    manager.ready(status);
  }
  return signal;
}

// The state in which this process begins.
struct Beginning {
  ConfigText file;
  BuiltConfiguration built;
  LiveRules rules;                   // that go on from the process before this one
  std::unique_ptr<TakeOver> taking;  // null: no process has started this one to take over from it
  int admin_listener = -1;           // -1: to be opened

  std::vector<net::Fd> take_listeners() const {
    return taking != nullptr ? taking->take_listeners() : std::vector<net::Fd>();
  }
};

// Reads the configuration, and what the process before this one gives. Whatever it finds wrong here
// ends the start before a thread runs; returns the exit code then.
std::optional<int> prepare(const ProxyFlags& flags, Beginning& begun) {
  Result<ConfigText> file = read_config_text(flags);
  if (!file.ok()) {
    print_faults({file.error()}, "heatsink proxy", std::cerr);
    return kMisused;
  }
  begun.file = *std::move(file);
  begun.built = build_configuration(flags, begun.file);
  const policy::ProxyOptions& options = begun.built.options;
  print_faults(begun.built.faults, "heatsink proxy", std::cerr);
  if (!begun.built.faults.empty()) return kMisused;
  if (const Status opened = open_log(options); !opened.ok()) return fail(opened.error());
  begun.built.log_deprecated();
  Result<std::unique_ptr<TakeOver>> taking = TakeOver::from_environment(options);
  if (!taking.ok()) return fail(taking.error());
  begun.taking = std::move(taking).value();
  if (begun.taking != nullptr) {
    begun.rules = begun.taking->add_live_rules(flags, begun.file, begun.built);
    begun.admin_listener = begun.taking->take_admin();
  }
  if (const Status unused = check_admin(options, begun.admin_listener >= 0); !unused.ok())
    return fail(unused.error());
  return std::nullopt;
}

const char* words_for_end(int signal) {
  if (signal == 0) return "handed over: shutting down";
  return signal == SIGINT ? "received SIGINT: shutting down" : "received SIGTERM: shutting down";
}

// Leaves the work to the new process: it answers, speaks to the service manager, tells alerts,
// and records what is hot.
void leave_to_successor(std::optional<Watchdog>& watchdog,
                        std::unique_ptr<httpd::HttpServer>& admin, Watches& watches,
                        history::Writer* history) {
  watchdog.reset();
  admin.reset();
  watches.alerts.reset();
  if (history != nullptr) history->end();
}

}  // namespace

int run_proxy(int argc, char** argv) {
  CLI::App app(
      "Runs the proxy in front of a Redis or Valkey server: "
      "it finds the hot keys and serves them from coherent local copies.");
  ProxyFlags flags;
  add_proxy_flags(app, flags);
  if (const auto code = parse_flags(app, argc, argv)) return *code;

  net::count_tls_memory();
  ProgramStart program = ProgramStart::of_this_process("proxy", argc, argv);
  Beginning begun;
  if (const std::optional<int> code = prepare(flags, begun)) return *code;
  const policy::ProxyOptions& options = begun.built.options;

  ServiceEnvironment environment = ServiceEnvironment::take();
  program.environment = environment.of_successor();
  const ServiceManager manager(std::move(environment));
  const sigset_t ending = block_signals();
  std::unique_ptr<history::Writer> history = history_writer(options);
  Result<std::unique_ptr<proxy::Proxy>> proxy = proxy::Proxy::start(
      options, random_seed(), begun.take_listeners(), recording_to(history.get()));
  if (!proxy.ok()) return fail(proxy.error());
  Result<Watches> watches = start_watches(options, **proxy, history.get());
  if (!watches.ok()) return fail(watches.error());
  std::unique_ptr<httpd::HttpServer> admin;
  LiveConfiguration live(flags, std::move(begun.file), std::move(begun.rules), begun.built,
                         live_target(**proxy, admin, watches->alerts));
  Result<std::unique_ptr<httpd::HttpServer>> started =
      start_admin(options, **proxy, live, *watches, begun.admin_listener);
  if (!started.ok()) return fail(started.error());
  admin = std::move(started).value();
  if (begun.taking != nullptr) {
    wait_for_master(options, **proxy);
    if (const Status taken = begun.taking->begin(**proxy); !taken.ok()) return fail(taken.error());
  }
  const std::string status = say_ready(options, **proxy, admin.get());
  manager.ready(status);
  std::optional<Watchdog> watchdog(std::in_place, manager,
                                   [&proxy] { return (*proxy)->alive(BootClock::now()); });

  HandOver hand_over(**proxy, live, admin.get(), std::move(program),
                     [&manager](pid_t successor) { manager.main_process(successor); });
  const int signal = wait_for_end(ending, live, manager, status, hand_over);
  hand_over.end();
  log(LogLevel::kInfo, words_for_end(signal));
  const Nanos drain = (*proxy)->options().shutdown_drain;
  const Millis limit = std::chrono::ceil<Millis>(drain_limit(drain)) + kEndWithin;
  const EndWithin bound(limit);
  begun.taking.reset();
  signal == 0 ? leave_to_successor(watchdog, admin, *watches, history.get())
              : manager.stopping(limit);
  drain_clients(**proxy, drain, ending);
  watchdog.reset();
  admin.reset();
  *watches = {};
  proxy->reset();
  history.reset();
  flush_log(kLastLines);
  return kDone;
}

}  // namespace heatsink::app
