// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top_server_flags.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdlib>
#include <utility>

#include "apps/heatsink/password.h"
#include "apps/heatsink/typed_flag.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/secret_file.h"
#include "heatsink/observe/observe.h"

namespace heatsink::app {
namespace {

constexpr std::string_view kProxy = "proxy";
constexpr std::string_view kCapture = "capture";
constexpr std::string_view kAuto = "auto";
constexpr std::size_t kSourcesMax = 8;

std::string names_of_sources() {
  std::string out;
  for (const std::string& name : observe::source_names()) out += (out.empty() ? "" : ", ") + name;
  return out;
}

Result<std::string> password_of(const ServerFlags& flags, const net::RedisUrl& url) {
  if (!url.password.empty()) return url.password;
  if (!flags.password_file.empty()) {
    Result<std::string> password = read_password_file(flags.password_file);
    if (password.ok()) return password;
    return Error{password.error().code, "--password-file: " + password.error().message};
  }
  const char* environment = std::getenv(kCliVariable);  // NOLINT(concurrency-mt-unsafe)
  return std::string(environment == nullptr ? "" : environment);
}

Result<std::vector<std::string>> split_sources(const std::string& text) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  if (out.size() <= kSourcesMax) return out;
  return Error{ErrorCode::kOutOfRange, "--source: more than 8 sources: give at most 8"};
}

Status check_names(const std::vector<std::string>& sources) {
  for (const std::string& name : sources) {
    if (name == kProxy && sources.size() == 1) continue;
    if (name == kProxy)
      return invalid_argument(
          "--source: proxy cannot be combined with other sources: give it alone");
    const Status known = observe::check_source_name(name);
    if (!known) return Error{known.error().code, "--source: " + known.error().message};
  }
  return Unit{};
}

// An option without effect is a mistake of the user.
Status check_sources(const ServerFlags& flags, const std::vector<std::string>& sources) {
  const auto names = [&](std::string_view name) {
    return std::ranges::find(sources, name) != sources.end();
  };
  const bool is_of_capture = flags.interface != ServerFlags().interface || !flags.ports.empty() ||
                             flags.replies != ServerFlags().replies;
  if (is_of_capture && !names(kCapture) && (!names(kAuto) || flags.url.empty()))
    return invalid_argument("--interface, --port and --replies need --source capture");
  if (flags.url.empty() && flags.sources != kCapture && flags.sources != kProxy &&
      flags.sources != kAuto) {
    return invalid_argument(
        "--source " + flags.sources +
        " needs a server, as in redis://host[:port]; only capture and proxy work without one");
  }
  return Unit{};
}

}  // namespace

void add_server_flags(CLI::App& app, ServerFlags& flags) {
  app.add_option("SERVER", flags.url,
                 "Server to look at, with nothing installed there: "
                 "redis://[user@]host[:port], rediss:// for TLS, unix:///path; "
                 "of a cluster any node. Without it: "
                 "the proxy at --admin, or the network with --source capture");
  app.add_option(
         "--source", flags.sources,
         "How to look at the server: " + names_of_sources() +
             "; several, with commas between them, check each other; proxy: the proxy at --admin")
      ->capture_default_str()
      ->type_name("NAME");
  app.add_option("--node", flags.node,
                 "Masters of a cluster to look at: "
                 "all, busiest, or HOST:PORT (default: busiest for monitor and auto, else all)")
      ->type_name("NODE");
  app.add_option("--interface", flags.interface,
                 "Network interface for --source capture; any: all interfaces")
      ->capture_default_str()
      ->type_name("IF");
  app.add_option("--port", flags.ports,
                 "Server port for --source capture; "
                 "may be repeated (default: the port of the server, or 6379)")
      ->check(CLI::Range(1, 65535))
      ->type_name("N");
  app.add_option("--replies", flags.replies,
                 "Which replies --source capture reads while there are more than 10000 per second: "
                 "sampled (those of 1 connection in 8, in turn) or all "
                 "(takes more CPU time of the server's machine)")
      ->capture_default_str()
      ->check(CLI::IsMember({"sampled", "all"}))
      ->type_name("WHICH");
  add_duration_flag(app, "--max-latency", flags.latency_max,
                    "Stop MONITOR when a PING takes longer than this while it runs");
  app.add_option("--resume", flags.resume_file,
                 "File where a scan (lfu) saves its position, to continue after an interruption; "
                 "of a cluster FILE.HOST:PORT for each node")
      ->type_name("FILE");
  app.add_option("--password-file", flags.password_file,
                 "File whose first line is the server's password (or set REDISCLI_AUTH)")
      ->type_name("FILE");
  app.add_option("--tls-ca", flags.tls_ca_file,
                 "File with the CAs that sign the server's certificate (PEM)")
      ->type_name("FILE");
}

Result<std::optional<ObservedServer>> observed_server(const ServerFlags& flags) {
  auto sources = split_sources(flags.sources);
  if (!sources) return sources.error();
  if (Status known = check_names(*sources); !known) return known.error();
  if (const Status fits = check_sources(flags, *sources); !fits) return fits.error();
  if (flags.sources == kProxy || (flags.url.empty() && flags.sources != kCapture))
    return std::optional<ObservedServer>();
  ObservedServer out{.url = {},
                     .sources = std::move(sources).value(),
                     .latency_max = flags.latency_max,
                     .tls_ca_file = flags.tls_ca_file,
                     .resume_file = flags.resume_file,
                     .interface = flags.interface,
                     .ports = flags.ports,
                     .all_replies = flags.replies == "all"};
  auto nodes = observe::parse_node_choice(flags.node);
  if (!nodes) return Error{nodes.error().code, "--node: " + nodes.error().message};
  out.nodes = std::move(nodes).value();
  if (flags.url.empty()) return std::optional(std::move(out));
  auto url = net::parse_redis_url(flags.url);
  if (!url) return url.error();
  auto password = password_of(flags, *url);
  if (!password) return password.error();
  url->password = std::move(password).value();
  out.url = std::move(url).value();
  return std::optional(std::move(out));
}

}  // namespace heatsink::app
