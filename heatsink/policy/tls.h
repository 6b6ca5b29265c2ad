// SPDX-License-Identifier: Apache-2.0
// Turns options into the TLS settings of both sides: clients, and the server.
#pragma once

#include <string>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/options.h"

namespace heatsink::policy {

// A side without TLS has an empty context.
struct TlsContexts {
  net::TlsContext clients;
  net::TlsContext upstream;
};

// Options that contradict each other, one sentence each. Opens no file.
std::vector<std::string> tls_faults(const ProxyOptions& options, const net::RedisUrl& upstream);

// Reads the certificate and key files. REQUIRES no tls_faults(). An error names the option, its
// file and the problem.
Result<TlsContexts> load_tls(const ProxyOptions& options, const net::RedisUrl& upstream);

}  // namespace heatsink::policy
