// SPDX-License-Identifier: Apache-2.0
// heatsink watch: one view of many proxies and libraries, from their admin ports; or of a server
// that has none, by observing it.
#include <CLI/CLI.hpp>
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/observed_history.h"
#include "apps/heatsink/process/end_signals.h"
#include "apps/heatsink/process/exit_code.h"
#include "apps/heatsink/top/answers.h"
#include "apps/heatsink/top_server_flags.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"
#include "apps/heatsink/watch/pages.h"
#include "apps/heatsink/watch/poller.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/net/address.h"

namespace heatsink::app {
namespace {

struct WatchPage {
  net::HostPort listen{"127.0.0.1", 6399};
  std::string token;  // "": none; required beyond this machine
};

constexpr Nanos kAskEvery = std::chrono::seconds(1);
constexpr Nanos kLookForTheEnd = Millis(200);

// Asks the observation once a second, on a thread of its own, until it is destroyed.
class Observation {
 public:
  Observation(std::unique_ptr<boost::asio::io_context> io, std::unique_ptr<TopAnswers> answers,
              ObservedHistory& history)
      : io_(std::move(io)), answers_(std::move(answers)), history_(history), timer_(*io_) {
    ask();
    thread_ = std::thread([this] { io_->run(); });
  }
  ~Observation() {
    io_->stop();
    thread_.join();
  }
  Observation(const Observation&) = delete;

  bool is_over() const { return over_; }
  std::string failure() const { return answers_->failure(); }  // REQUIRES is_over()

 private:
  void ask() {
    timer_.expires_after(kAskEvery);
    answers_->ask([this](Result<TopAnswer> answer) {
      if (answer.ok())
        history_.add(std::move(answer).value(), BootClock::now());
      else
        history_.failed(answer.error().message);
      if (answers_->finished()) {
        over_ = true;
        return;
      }
      timer_.async_wait([this](auto error) {
        if (!error) ask();
      });
    });
  }

  std::unique_ptr<boost::asio::io_context> io_;
  std::unique_ptr<TopAnswers> answers_;
  ObservedHistory& history_;
  boost::asio::steady_timer timer_;
  std::atomic<bool> over_{false};
  std::thread thread_;
};

int watch_failed(const std::string& message) {
  std::cerr << "heatsink watch: " << one_line(message) << std::endl;
  return kFailed;
}

// Observes until a signal ends it, or the observation ends early. Returns the exit code; errors
// stand on standard error. The page has a week of columns in memory, as that of a proxy.
int watch_server(const ObservedServer& server, const WatchPage& page) {
  EndSignals signals;
  ObservedServer asked = server;
  asked.wants_json = true;
  auto io = std::make_unique<boost::asio::io_context>(1);
  Result<std::unique_ptr<TopAnswers>> answers = observed_answers(*io, asked, Nanos(0));
  if (!answers.ok()) return watch_failed(answers.error().message);
  ObservedHistory history;
  const auto http =
      httpd::HttpServer::start({.listen = page.listen, .token = page.token}, pages_of(history));
  if (!http.ok()) return watch_failed("--listen: " + http.error().message);
  Observation observation(std::move(io), std::move(answers).value(), history);
  std::cout << "heatsink watch is ready: " << one_line(server.where()) << ", the page is http://"
            << (*http)->address().text() << "/" << std::endl;
  while (!signals.wait_until(BootClock::now() + kLookForTheEnd))
    if (observation.is_over() && !observation.failure().empty())
      return watch_failed("ended early: " + observation.failure());
  return kDone;
}

struct WatchFlags {
  std::vector<std::string> of;
  std::vector<std::string> token_files;
  net::HostPort listen{"127.0.0.1", 6399};
  std::string own_token;
};

void add_flags(CLI::App& app, WatchFlags& flags) {
  app.add_option("--of", flags.of,
                 "Admin addresses of the proxies and libraries, at most 64: HOST:PORT,HOST:PORT")
      ->delimiter(',')
      ->type_name("HOST:PORT");
  app.add_option(
         "--token-file", flags.token_files,
         "File with the admin token of all of them; or give it once for each, in the order of --of")
      ->type_name("FILE");
  add_parsed_flag(
      app, "--listen", flags.listen,
      [](const std::string& text) { return net::parse_host_port(text); }, flags.listen.text(),
      "Address of the page of all of them; port 0: any free one")
      ->type_name("HOST:PORT");
  add_parsed_flag(
      app, "--listen-token-file", flags.own_token,
      [](const std::string& path) { return read_secret_file(path); }, "",
      "File with the token of that page: required beyond this machine")
      ->type_name("FILE");
}

Result<std::vector<std::string>> tokens_of(const WatchFlags& flags, std::size_t instances) {
  const std::size_t files = flags.token_files.size();
  if (files > 1 && files != instances)
    return invalid_argument("--token-file: " + std::to_string(files) + " files for " +
                            std::to_string(instances) + " addresses: give one, or one for each");
  std::vector<std::string> tokens(instances);
  for (std::size_t i = 0; i < instances && files > 0; ++i) {
    Result<std::string> token = read_secret_file(flags.token_files[files == 1 ? 0 : i]);
    if (!token.ok()) return Error{token.error().code, "--token-file: " + token.error().message};
    tokens[i] = *std::move(token);
  }
  return tokens;
}

Result<std::vector<WatchedAdmin>> watched(const WatchFlags& flags) {
  if (flags.of.size() > Poller::kInstancesMax)
    return invalid_argument(
        "--of: " + std::to_string(flags.of.size()) + " addresses: at most " +
        std::to_string(Poller::kInstancesMax) +
        "; watch groups of them, and then these: --of takes the address of a watch");
  const Result<std::vector<std::string>> tokens = tokens_of(flags, flags.of.size());
  if (!tokens.ok()) return tokens.error();
  std::vector<WatchedAdmin> out;
  for (std::size_t i = 0; i < flags.of.size(); ++i) {
    Result<net::HostPort> address = net::parse_host_port(flags.of[i]);
    if (!address.ok()) return Error{address.error().code, "--of: " + address.error().message};
    for (const WatchedAdmin& each : out)
      if (each.address == *address)
        return invalid_argument("--of: " + address->text() + " is there twice");
    out.push_back({*std::move(address), (*tokens)[i]});
  }
  return out;
}

int fail_with(const Error& error, int code) {
  std::cerr << "heatsink watch: " << one_line(error.message) << "\n";
  return code;
}

int watch_a_server(const ServerFlags& named, const WatchFlags& flags) {
  const Result<std::optional<ObservedServer>> server = observed_server(named);
  if (!server.ok()) return fail_with(server.error(), kMisused);
  if (!server->has_value())
    return fail_with(invalid_argument("name a server, as in redis://HOST:PORT, "
                                      "or the admin ports of proxies: --of HOST:PORT,HOST:PORT"),
                     kMisused);
  return watch_server(**server, {flags.listen, flags.own_token});
}

std::uint64_t any_seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

}  // namespace

int run_watch(int argc, char** argv) {
  CLI::App app(
      "Shows many proxies and libraries as one: "
      "asks their admin ports, and serves the page and the API of their sum, with bounds. "
      "Or shows the page of a server, with nothing installed there.",
      argv[0]);
  WatchFlags flags;
  add_flags(app, flags);
  ServerFlags server_flags;
  add_server_flags(app, server_flags);
  app.footer("heatsink top --admin shows it in a terminal. It ends with Ctrl-C.");
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  if (flags.of.empty()) return watch_a_server(server_flags, flags);
  if (!server_flags.url.empty())
    return fail_with(invalid_argument("--of and a server are two views: name one of them"),
                     kMisused);
  Result<std::vector<WatchedAdmin>> of = watched(flags);
  if (!of.ok()) return fail_with(of.error(), kMisused);
  const std::size_t instances = of->size();
  EndSignals signals;
  Poller poller(*std::move(of), any_seed());
  auto server = httpd::HttpServer::start({.listen = flags.listen, .token = flags.own_token},
                                         watch_routes(poller));
  if (!server.ok())
    return fail_with({server.error().code, "--listen: " + server.error().message}, kFailed);
  if (const Status started = poller.start(); !started.ok())
    return fail_with(started.error(), kFailed);
  std::cout << "heatsink watch is ready: " << instances
            << (instances == 1 ? " instance" : " instances") << ", the page is http://"
            << (*server)->address().text() << "/" << std::endl;
  while (!signals.wait_until(BootClock::now() + std::chrono::hours(1))) {
  }
  return kDone;
}

}  // namespace heatsink::app
