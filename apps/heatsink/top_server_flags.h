// SPDX-License-Identifier: Apache-2.0
// Parses the part of top's command line that names a server to observe.
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

// The flags as given: a password file may come before the URL.
struct ServerFlags {
  std::string url;  // "": ask a proxy
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

// Nothing if no server was named, or the source is "proxy": then ask the admin API. A capture needs
// no server. The password comes from the URL, else from the file (its first line), else from the
// environment ($REDISCLI_AUTH, as for redis-cli). Errors never contain it.
Result<std::optional<ObservedServer>> observed_server(const ServerFlags& flags);

}  // namespace heatsink::app
