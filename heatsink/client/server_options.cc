// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/server_options.h"

#include <stdexcept>
#include <utility>

#include "heatsink/client/link_options.h"

namespace heatsink::client {

distributed::ServerOptions server_options(const ClientOptions& options, std::string client_name) {
  if (options.server_url.empty())
    throw std::invalid_argument(
        "server.url is not set: set it to the server that keeps what the processes share");
  options.checked();
  return {.url = options.server_url,
          .tls_ca = options.server_tls_ca,
          .tls_cert = options.server_tls_cert,
          .tls_key = options.server_tls_key,
          .tls_server_name = options.server_tls_server_name,
          .tls_verify = options.server_tls_verify,
          .connect_timeout = options.server_connect_timeout,
          .response_timeout = options.server_response_timeout,
          .backoff_min = options.server_backoff_min,
          .backoff_max = options.server_backoff_max,
          .client_name = std::move(client_name),
          .translate = options.server_translate};
}

}  // namespace heatsink::client
