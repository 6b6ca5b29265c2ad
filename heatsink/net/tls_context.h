// SPDX-License-Identifier: Apache-2.0
// Holds what all TLS connections of one side share: certificates, keys and trusted authorities.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "heatsink/base/result.h"

struct ssl_ctx_st;

namespace heatsink::net {

enum class ClientAuth : std::uint8_t {
  kOff,       // clients need no certificate
  kOptional,  // a client's certificate, if there is one, must be valid
  kRequired,
};

// PEM files.
struct TlsServerOptions {
  std::string cert_file;  // with its chain
  std::string key_file;   // without a passphrase
  std::string ca_file;    // authorities for client certificates; required unless kOff
  ClientAuth client_auth = ClientAuth::kOff;
};
struct TlsClientOptions {
  std::string ca_file;    // authorities for server certificates; "": those of this machine
  std::string cert_file;  // "": no client certificate
  std::string key_file;
  std::string server_name;     // the name or address that the server's certificate must have
  bool verify = true;          // false: accepts any server
  bool is_fixed_name = false;  // `server_name` holds for each host (TlsContext::for_server())
};

// Immutable; copies share it; any thread. TLS 1.2 or newer, no renegotiation, no resumption: each
// connection is verified with the files as they were at construction. An empty context means no
// TLS.
class TlsContext {
 public:
  TlsContext() = default;
  // Errors name the file and its fault: missing, not PEM, a key with a passphrase, a key of another
  // certificate, an expired certificate.
  static Result<TlsContext> server(const TlsServerOptions& options);
  static Result<TlsContext> client(const TlsClientOptions& options);

  explicit operator bool() const { return context_ != nullptr; }
  ssl_ctx_st* get() const { return context_.get(); }
  bool is_server() const { return is_server_; }
  // to be verified; "": not verified
  const std::string& server_name() const { return server_name_; }
  // The context for a server on another host: its certificate must have that name, unless the name
  // is fixed or not verified.
  TlsContext for_server(const std::string& host) const {
    TlsContext out = *this;
    if (!is_fixed_name_ && !server_name_.empty()) out.server_name_ = host;
    return out;
  }
  // When the first certificate of our own chain expires, in seconds since 1970. Nothing: no TLS, or
  // a client without a certificate.
  std::optional<std::int64_t> expires_at() const { return expires_at_; }

 private:
  std::shared_ptr<ssl_ctx_st> context_;
  bool is_server_ = false;
  std::string server_name_;
  bool is_fixed_name_ = false;
  std::optional<std::int64_t> expires_at_;
};

}  // namespace heatsink::net
