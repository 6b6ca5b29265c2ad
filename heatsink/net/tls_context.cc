// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/tls_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <time.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>

#include "heatsink/base/printable.h"

namespace heatsink::net {
namespace {

using Context = std::shared_ptr<ssl_ctx_st>;

// Takes the innermost reason from OpenSSL's error queue, and clears the queue.
std::string openssl_reason() {
  const char* text = ERR_reason_error_string(ERR_peek_error());
  std::string reason = text == nullptr ? "unknown" : text;
  ERR_clear_error();
  return reason;
}

Error file_error(const char* what, const std::string& file, const std::string& why) {
  return invalid_argument(std::string(what) + " '" + printable(file) + "': " + why);
}

// Refuses instead of asking on the terminal: a proxy has none.
int no_passphrase(char* /*buffer*/, int /*size*/, int /*writing*/, void* asked) {
  *static_cast<bool*>(asked) = true;
  return -1;
}

Result<Context> make_context(const SSL_METHOD* method) {
  ERR_clear_error();
  Context context(SSL_CTX_new(method), SSL_CTX_free);
  if (!context || SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION) != 1)
    return Error{ErrorCode::kUnavailable, "cannot set up TLS: " + openssl_reason()};
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET |
                                         SSL_OP_NO_COMPRESSION |
                                         // RESP says where requests and replies end.
                                         SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(context.get(), 0);
  // A written record is taken at once; the caller may move the remaining bytes. An idle connection
  // keeps no buffers.
  SSL_CTX_set_mode(context.get(), SSL_MODE_ENABLE_PARTIAL_WRITE |
                                      SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                      SSL_MODE_RELEASE_BUFFERS);
  return context;
}

std::optional<Error> check_dates(SSL_CTX* context, const std::string& file) {
  const X509* const certificate = SSL_CTX_get0_certificate(context);
  if (X509_cmp_current_time(X509_get0_notAfter(certificate)) < 0)
    return file_error("the certificate", file, "it has expired: renew it");
  if (X509_cmp_current_time(X509_get0_notBefore(certificate)) > 0)
    return file_error("the certificate", file, "it is not valid yet: check this machine's clock");
  return std::nullopt;
}

// In seconds since 1970; for ever, if OpenSSL cannot read the date.
std::int64_t end_of(const X509* certificate) {
  tm end{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(certificate), &end) != 1)
    return std::numeric_limits<std::int64_t>::max();
  return timegm(&end);
}

// REQUIRES an identity.
std::int64_t end_of_chain(SSL_CTX* context) {
  std::int64_t end = end_of(SSL_CTX_get0_certificate(context));
  STACK_OF(X509)* chain = nullptr;  // the context's
  SSL_CTX_get_extra_chain_certs(context, &chain);
  for (int i = 0; i < sk_X509_num(chain); ++i) end = std::min(end, end_of(sk_X509_value(chain, i)));
  return end;
}

std::optional<Error> load_identity(SSL_CTX* context, const std::string& cert_file,
                                   const std::string& key_file) {
  if (SSL_CTX_use_certificate_chain_file(context, cert_file.c_str()) != 1)
    return file_error("the certificate", cert_file,
                      "no PEM can be read (" + openssl_reason() + ")");
  bool wants_passphrase = false;
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  SSL_CTX_set_default_passwd_cb_userdata(context, &wants_passphrase);
  const bool has_key =
      SSL_CTX_use_PrivateKey_file(context, key_file.c_str(), SSL_FILETYPE_PEM) == 1;
  SSL_CTX_set_default_passwd_cb_userdata(context, nullptr);
  if (wants_passphrase)
    return file_error("the key", key_file,
                      "it has a passphrase, which heatsink cannot ask for: "
                      "remove it (openssl pkey), and make the file readable for this user only");
  if (!has_key) {
    const std::string reason = openssl_reason();
    const bool other = reason.find("mismatch") != std::string::npos;
    return file_error("the key", key_file,
                      other ? "it does not belong to the certificate '" + printable(cert_file) + "'"
                            : "no PEM can be read (" + reason + ")");
  }
  return check_dates(context, cert_file);
}

std::optional<Error> load_authorities(SSL_CTX* context, const std::string& file) {
  if (SSL_CTX_load_verify_file(context, file.c_str()) == 1) return std::nullopt;
  return file_error("the CA certificates", file, "no PEM can be read (" + openssl_reason() + ")");
}

int verify_mode(ClientAuth client_auth) {
  switch (client_auth) {
    case ClientAuth::kOff:
      return SSL_VERIFY_NONE;
    case ClientAuth::kOptional:
      return SSL_VERIFY_PEER;
    case ClientAuth::kRequired:
      return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
  }
  return SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT;
}

}  // namespace

Result<TlsContext> TlsContext::server(const TlsServerOptions& options) {
  Result<Context> made = make_context(TLS_server_method());
  if (!made.ok()) return made.error();
  SSL_CTX* const context = made->get();
  if (auto error = load_identity(context, options.cert_file, options.key_file))
    return *std::move(error);
  if (options.client_auth != ClientAuth::kOff) {
    if (auto error = load_authorities(context, options.ca_file)) return *std::move(error);
    SSL_CTX_set_client_CA_list(context, SSL_load_client_CA_file(options.ca_file.c_str()));
  }
  SSL_CTX_set_verify(context, verify_mode(options.client_auth), nullptr);
  TlsContext out;
  out.expires_at_ = end_of_chain(context);
  out.context_ = *std::move(made);
  out.is_server_ = true;
  return out;
}

Result<TlsContext> TlsContext::client(const TlsClientOptions& options) {
  Result<Context> made = make_context(TLS_client_method());
  if (!made.ok()) return made.error();
  SSL_CTX* const context = made->get();
  if (!options.cert_file.empty()) {
    if (auto error = load_identity(context, options.cert_file, options.key_file))
      return *std::move(error);
  }
  if (!options.ca_file.empty()) {
    if (auto error = load_authorities(context, options.ca_file)) return *std::move(error);
  } else {
    SSL_CTX_set_default_verify_paths(context);  // fails only without memory
  }
  SSL_CTX_set_verify(context, options.verify ? SSL_VERIFY_PEER : SSL_VERIFY_NONE, nullptr);
  TlsContext out;
  if (!options.cert_file.empty()) out.expires_at_ = end_of_chain(context);
  out.context_ = *std::move(made);
  if (options.verify) out.server_name_ = options.server_name;
  out.is_fixed_name_ = options.is_fixed_name;
  return out;
}

}  // namespace heatsink::net
