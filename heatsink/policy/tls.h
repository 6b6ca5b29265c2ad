// SPDX-License-Identifier: Apache-2.0
// From options to what TLS connections need, on both sides.
#pragma once

#include <string>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/options.h"

namespace heatsink::policy {

// Empty where a side is plain.
struct TlsContexts {
  net::TlsContext clients;
  net::TlsContext upstream;
};

// What does not go together, each in a sentence; no file is looked at.
std::vector<std::string> tls_faults(const ProxyOptions& options, const net::RedisUrl& upstream);

// Reads the files. REQUIRES no tls_faults(). Errors name the option's file and what is wrong with
// it.
Result<TlsContexts> load_tls(const ProxyOptions& options, const net::RedisUrl& upstream);

}  // namespace heatsink::policy
