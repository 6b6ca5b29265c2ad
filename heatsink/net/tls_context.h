// SPDX-License-Identifier: Apache-2.0
// What all TLS connections of one side share: certificates, keys and trusted authorities.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "heatsink/base/result.h"

struct ssl_ctx_st;

namespace heatsink::net {

enum class ClientAuth : std::uint8_t {
  kOff,       // clients are not asked for a certificate
  kOptional,  // one that is shown must be good
  kRequired,
};

// Files in PEM.
struct TlsServerOptions {
  std::string cert_file;  // with the chain behind it
  std::string key_file;   // without a passphrase
  std::string ca_file;    // who signs clients; needed unless kOff
  ClientAuth client_auth = ClientAuth::kOff;
};
struct TlsClientOptions {
  std::string ca_file;    // who signs servers; "": those that this machine trusts
  std::string cert_file;  // "": none is shown
  std::string key_file;
  std::string server_name;  // that its certificate must have: a name or an address
  bool verify = true;       // false: anybody may be the server
};

// Immutable; copies share it; any thread. TLS 1.2 or newer, no renegotiation, no resumption: each
// connection is verified by what the files said when this was made. An empty one stands for plain.
class TlsContext {
 public:
  TlsContext() = default;
  // Errors name the file and what is wrong with it: missing, not PEM, a key with a passphrase, a
  // key of another certificate, a certificate that has expired.
  static Result<TlsContext> server(const TlsServerOptions& options);
  static Result<TlsContext> client(const TlsClientOptions& options);

  explicit operator bool() const { return context_ != nullptr; }
  ssl_ctx_st* get() const { return context_.get(); }
  bool is_server() const { return is_server_; }
  const std::string& server_name() const { return server_name_; }  // to be verified; "": not

 private:
  std::shared_ptr<ssl_ctx_st> context_;
  bool is_server_ = false;
  std::string server_name_;
};

}  // namespace heatsink::net
