// SPDX-License-Identifier: Apache-2.0
// The flags of verbs that ask the admin API of a running proxy once, and the question.
#pragma once

#include <string>

#include "apps/heatsink/http/http.h"
#include "heatsink/net/net.h"

namespace CLI {
class App;
}

namespace heatsink::app {

struct AdminFlags {
  net::HostPort admin{"127.0.0.1", 6390};
  std::string token;
  bool json = false;
};
void add_admin_flags(CLI::App& app, AdminFlags& flags);

// The body of the answer. An error says what the proxy answered instead.
Result<std::string> ask_admin(const AdminFlags& flags, const HttpQuestion& question);

// Asks for a change and prints what came of it: on stderr if it was refused. The exit code.
int ask_for_change(const AdminFlags& flags, const HttpQuestion& question, const char* program);

}  // namespace heatsink::app
