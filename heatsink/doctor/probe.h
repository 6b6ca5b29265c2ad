// SPDX-License-Identifier: Apache-2.0
// Collects the facts: asks the server, and reads the limits of this machine. Blocks meanwhile.
#pragma once

#include <atomic>
#include <string>

#include "heatsink/doctor/facts.h"

namespace heatsink::doctor {

struct ProbeOptions {
  Nanos limit = std::chrono::seconds(8);  // for all of it
  // Also asks what costs the server more than a small reply (CLIENT LIST), and measures round
  // trips.
  bool is_thorough = true;
  // "": nothing is written. Otherwise this key is written, and deleted; the server also forgets it
  // after 5 s.
  std::string scratch_key;
  // Once it is set, the look ends within 100 ms; its facts are worth nothing then.
  const std::atomic<bool>* stop = nullptr;
};

// Asks the server of `upstream` with the TLS settings of `options`. Opens one connection, or two if
// it writes. Never longer than the limit, whatever the server does; if a name server hangs, a
// thread stays behind that waits for it. Any thread.
ServerFacts look_at_server(const policy::ProxyOptions& options, const net::RedisUrl& upstream,
                           const ProbeOptions& how);

// The facts of a server that had to be found and was not, for this reason.
ServerFacts without_master(const net::RedisUrl& configured, const std::string& why);

}  // namespace heatsink::doctor
