// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/tls_reason.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

namespace heatsink::net {

std::string certificate_reason(int verify_error, const std::string& server_name) {
  switch (verify_error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the certificate that the other side has shown has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the certificate that the other side has shown is not valid yet: look at the clocks";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the server's certificate is for another name than " + server_name +
             ": write the name that it is for in upstream.tls-server-name";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "the certificate that the other side has shown is signed by nobody who is trusted: "
             "the "
             "authority's certificate belongs in upstream.tls-ca (of servers) or proxy.tls-ca (of "
             "clients)";
    default:
      return std::string("the certificate that the other side has shown is no good: ") +
             X509_verify_cert_error_string(verify_error);
  }
}

namespace {

const char* common_reason(int reason) {
  switch (reason) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "the server wants a certificate: set upstream.tls-cert and upstream.tls-key";
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
      return "the other side does not trust the authority that has signed our certificate";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED:
      return "the other side finds our certificate expired";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
      return "the other side does not accept our certificate";
    case SSL_R_TLSV1_ALERT_PROTOCOL_VERSION:
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_UNKNOWN_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
      return "there is no version of TLS that both sides allow; 1.2 is the least here";
    case SSL_R_NO_SHARED_CIPHER:
      return "there is no cipher that both sides allow";
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE:
      return "it has shown no certificate, and proxy.tls-client-auth is required";
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
    return we_are_server
               ? "it speaks no TLS"
               : "the server answers without TLS: is that its TLS port? Without TLS it is "
                 "redis:// instead of rediss://";
  if (const char* text = common_reason(reason)) return text;
  const char* text = ERR_reason_error_string(error);
  return text == nullptr ? "it failed for a reason that OpenSSL does not name" : text;
}

}  // namespace heatsink::net
