// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/tls_reason.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace heatsink::net {

std::string certificate_reason(int verify_error, const std::string& server_name) {
  switch (verify_error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the peer's certificate has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the peer's certificate is not valid yet: check the clocks of both machines";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the server's certificate does not match the name " + server_name +
             ": set upstream.tls-server-name (server.tls-server-name in the library) to the name "
             "in the certificate";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "the peer's certificate is not signed by a trusted CA: put the CA's certificate in "
             "upstream.tls-ca (for servers; server.tls-ca in the library) or proxy.tls-ca (for "
             "clients)";
    default:
      return std::string("the peer's certificate is not valid: ") +
             X509_verify_cert_error_string(verify_error);
  }
}

namespace {

const char* common_reason(int reason) {
  switch (reason) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "the server requires a client certificate: set upstream.tls-cert and upstream.tls-key "
             "(server.* in the library)";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "the peer does not trust the CA that signed this side's certificate";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "the peer says that this side's certificate has expired";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
      return "the peer rejects this side's certificate";
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_UNKNOWN_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
      return "no TLS version that both sides allow; this side needs at least 1.2";
    case SSL_R_NO_SHARED_CIPHER:
      return "no cipher that both sides allow";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return "the client sent no certificate, but proxy.tls-client-auth is required";
    default:
      return nullptr;
  }
}

bool is_no_tls(int reason) {
  return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_PACKET_LENGTH_TOO_LONG ||
         reason == SSL_R_HTTP_REQUEST || reason == SSL_R_RECORD_LENGTH_MISMATCH;
}

}  // namespace

std::string tls_reason(unsigned long error, bool we_are_server) {
  const int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
  if (is_no_tls(reason))
    return we_are_server ? "the client does not use TLS"
                         : "the server answers without TLS: is this its TLS port? To connect "
                           "without TLS, use redis:// instead of rediss://";
  if (const char* text = common_reason(reason)) return text;
  const char* text = ERR_reason_error_string(error);
  return text == nullptr ? "OpenSSL gives no reason" : text;
}

}  // namespace heatsink::net
