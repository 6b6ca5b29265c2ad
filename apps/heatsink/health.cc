// SPDX-License-Identifier: Apache-2.0
// heatsink health: asks a running proxy whether it is fine, for probes without another program.
#include <CLI/CLI.hpp>
#include <boost/asio/io_context.hpp>
#include <iostream>
#include <string>

#include "apps/heatsink/flags.h"
#include "apps/heatsink/http/http.h"
#include "apps/heatsink/typed_flag.h"
#include "apps/heatsink/verbs.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/net/net.h"

namespace heatsink::app {
namespace {

constexpr std::size_t kHealthBytesMax = 64 * 1024;

struct HealthFlags {
  net::HostPort admin{"127.0.0.1", 6390};
  std::string token;
  Nanos timeout = std::chrono::seconds(2);
  bool live = false;
};

int ask(const HealthFlags& flags) {
  boost::asio::io_context io(1);
  Result<std::string> answer = Error{ErrorCode::kTimedOut, "it did not answer"};
  http_ask(io, flags.admin, {"GET", flags.live ? "/livez" : "/healthz", ""}, flags.token,
           flags.timeout, kHealthBytesMax,
           [&](Result<std::string> told) { answer = std::move(told); });
  io.run();
  if (!answer.ok()) {
    std::cerr << "heatsink health: " << flags.admin.text() << ": "
              << one_line(answer.error().message) << "\n";
    return kFailed;
  }
  std::cout << one_line(answer->substr(0, answer->find('\n'))) << "\n" << std::flush;
  return std::cout.good() ? kDone : kFailed;
}

}  // namespace

int run_health(int argc, char** argv) {
  HealthFlags flags;
  CLI::App app(
      "Asks a running proxy whether it reaches its server, "
      "or with --live whether its threads work.");
  app.add_flag("--live", flags.live,
               "Ask only whether the threads of the proxy work, whatever the server does: "
               "for a probe whose failure restarts the proxy");
  add_parsed_flag(
      app, "--admin", flags.admin,
      [](const std::string& text) { return net::parse_host_port(text); }, flags.admin.text(),
      "Admin address of the proxy")
      ->type_name("HOST:PORT");
  add_parsed_flag(
      app, "--token-file", flags.token,
      [](const std::string& path) { return read_secret_file(path); }, "",
      "File with the admin token of the proxy")
      ->type_name("FILE");
  add_duration_flag(app, "--timeout", flags.timeout, "Time limit for the answer");
  app.footer("Exit code: 0 if it is fine; 1 if it is not, or does not answer, and why.");
  if (const auto code = parse_flags(app, argc, argv)) return *code;
  return ask(flags);
}

}  // namespace heatsink::app
