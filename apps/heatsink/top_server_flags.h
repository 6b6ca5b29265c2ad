// SPDX-License-Identifier: Apache-2.0
// The part of top's command line that names a server to observe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/heatsink/top/answers.h"
#include "heatsink/base/result.h"

namespace CLI {
class App;
}

namespace heatsink::app {

// What the flags said, before it is put together: a password file may come before the URL.
struct ServerFlags {
  std::string url;  // "": a proxy is asked
  std::string sources = "auto";
  std::string password_file;
  std::string tls_ca_file;
  std::string resume_file;
  std::string node;
  Nanos latency_max = Millis(100);
  std::string interface = "any";
  std::vector<std::uint16_t> ports;
  std::string replies = "sampled";
};
void add_server_flags(CLI::App& app, ServerFlags& flags);

// Nothing when no server was named, or the source is "proxy": its admin API is asked. A capture
// needs no server. The password: of the URL, else of the file (its first line), else of the
// environment ($REDISCLI_AUTH, as redis-cli has it). Errors never repeat it.
Result<std::optional<ObservedServer>> observed_server(const ServerFlags& flags);

}  // namespace heatsink::app
