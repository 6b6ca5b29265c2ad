// SPDX-License-Identifier: Apache-2.0
// Turns the server.* options of a Client into the options of a connection.
#pragma once

#include <string>

#include "heatsink/client/options.h"
#include "heatsink/distributed/server.h"

namespace heatsink::client {

// The options of server.*; `client_name` appears in CLIENT LIST. Throws std::invalid_argument if
// server.url is not set or the options contradict each other.
distributed::ServerOptions server_options(const ClientOptions& options, std::string client_name);

}  // namespace heatsink::client
