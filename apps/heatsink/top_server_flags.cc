// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top_server_flags.h"

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "apps/heatsink/typed_flag.h"
#include "heatsink/base/printable.h"
#include "heatsink/observe/observe.h"

namespace heatsink::app {
namespace {

constexpr std::string_view kProxy = "proxy";
constexpr std::size_t kPasswordBytesMax = 4096;
constexpr std::size_t kSourcesMax = 8;

std::string names_of_sources() {
  std::string out;
  for (const std::string& name : observe::source_names()) out += (out.empty() ? "" : ", ") + name;
  return out;
}

Result<std::string> first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  if (!std::getline(file, line) || line.empty())
    return Error{ErrorCode::kUnavailable,
                 "--password-file: there is no password in " + printable(path)};
  if (line.ends_with('\r')) line.pop_back();
  if (line.size() > kPasswordBytesMax)
    return Error{ErrorCode::kOutOfRange, "--password-file: the password is too long"};
  return line;
}

Result<std::string> password_of(const ServerFlags& flags, const net::RedisUrl& url) {
  if (!url.password.empty()) return url.password;
  if (!flags.password_file.empty()) return first_line(flags.password_file);
  const char* environment = std::getenv("REDISCLI_AUTH");  // NOLINT(concurrency-mt-unsafe)
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
  return Error{ErrorCode::kOutOfRange, "--source: at most 8 at once"};
}

}  // namespace

void add_server_flags(CLI::App& app, ServerFlags& flags) {
  app.add_option("SERVER", flags.url,
                 "A server to look at, with nothing installed: redis://[user@]host[:port], "
                 "rediss:// for TLS, unix:///path; without it a proxy is asked");
  app.add_option("--source", flags.sources,
                 "How to look at the server: " + names_of_sources() +
                     "; several, with commas between them, check each other; proxy: by --admin")
      ->capture_default_str()
      ->type_name("NAME");
  add_duration_flag(app, "--max-latency", flags.latency_max,
                    "MONITOR is ended when a PING takes longer while it is on");
  app.add_option("--resume", flags.resume_file,
                 "Where a scan (lfu) keeps how far it is, and goes on from after an interruption")
      ->type_name("FILE");
  app.add_option("--password-file", flags.password_file,
                 "The file whose first line is the server's password (or set REDISCLI_AUTH)")
      ->type_name("FILE");
  app.add_option("--tls-ca", flags.tls_ca_file, "Who signs the server's certificate (PEM)")
      ->type_name("FILE");
}

Result<std::optional<ObservedServer>> observed_server(const ServerFlags& flags) {
  if (flags.url.empty() || flags.sources == kProxy) return std::optional<ObservedServer>();
  auto url = net::parse_redis_url(flags.url);
  if (!url) return url.error();
  auto password = password_of(flags, *url);
  if (!password) return password.error();
  url->password = std::move(password).value();
  auto sources = split_sources(flags.sources);
  if (!sources) return sources.error();
  return std::optional(ObservedServer{std::move(url).value(), std::move(sources).value(),
                                      flags.latency_max, flags.tls_ca_file, flags.resume_file});
}

}  // namespace heatsink::app
