// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/tls.h"

namespace heatsink::policy {
std::vector<std::string> tls_faults(const ProxyOptions& options, const net::RedisUrl& upstream) {
  std::vector<std::string> faults;
  const auto require = [&](bool truth, const char* sentence) {
    if (!truth) faults.emplace_back(sentence);
  };
  const bool asks = options.tls_client_auth != net::ClientAuth::kOff;
  require(options.tls_cert.empty() == options.tls_key.empty(),
          "TLS for clients needs both proxy.tls-cert and proxy.tls-key: set both, or none");
  require(!asks || !options.tls_cert.empty(),
          "proxy.tls-client-auth needs TLS for clients: set proxy.tls-cert and proxy.tls-key");
  require(
      !asks || !options.tls_ca.empty(),
      "proxy.tls-client-auth needs proxy.tls-ca: set it to the CA that signs client certificates");
  require(asks || options.tls_ca.empty(),
          "proxy.tls-ca is set, but proxy.tls-client-auth is off: set it to optional or required, "
          "or remove proxy.tls-ca");
  require(
      options.upstream_tls_cert.empty() == options.upstream_tls_key.empty(),
      "a client certificate needs both upstream.tls-cert and upstream.tls-key: set both, or none");
  const bool given = !options.upstream_tls_ca.empty() || !options.upstream_tls_cert.empty() ||
                     !options.upstream_tls_server_name.empty() || !options.upstream_tls_verify;
  require(upstream.tls || !given,
          "upstream.tls-* is set, but upstream.url has no TLS: "
          "use rediss://, or remove upstream.tls-*");
  return faults;
}

Result<TlsContexts> load_tls(const ProxyOptions& options, const net::RedisUrl& upstream) {
  TlsContexts contexts;
  if (!options.tls_cert.empty()) {
    Result<net::TlsContext> clients = net::TlsContext::server(
        {options.tls_cert, options.tls_key, options.tls_ca, options.tls_client_auth});
    if (!clients.ok()) return clients.error();
    contexts.clients = *std::move(clients);
  }
  if (upstream.tls) {
    // The certificate must name the URL's host, unless the configuration gives another name.
    const std::string& name = options.upstream_tls_server_name;
    Result<net::TlsContext> server =
        net::TlsContext::client({.ca_file = options.upstream_tls_ca,
                                 .cert_file = options.upstream_tls_cert,
                                 .key_file = options.upstream_tls_key,
                                 .server_name = name.empty() ? upstream.address.host : name,
                                 .verify = options.upstream_tls_verify,
                                 .is_fixed_name = !name.empty()});
    if (!server.ok()) return server.error();
    contexts.upstream = *std::move(server);
  }
  return contexts;
}

}  // namespace heatsink::policy
