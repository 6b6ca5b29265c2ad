// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/tls_session.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <climits>
#include <string>
#include <system_error>
#include <utility>

#include "heatsink/net/fatal.h"

namespace heatsink::net {
namespace {

// `verify_error`: an X509_V_ERR_ code. `server_name`: the expected name; "" on the server side.
std::string certificate_reason(int verify_error, const std::string& server_name) {
  switch (verify_error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
      return "the peer's certificate has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID:
      return "the peer's certificate is not valid yet: check the clocks of both machines";
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH:
      return "the server's certificate does not match the name " + server_name +
             ": set upstream.tls-server-name "
             "(server.tls-server-name in the library) to the name in the certificate";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE:
      return "the peer's certificate is not signed by a trusted CA: "
             "put the CA's certificate in upstream.tls-ca "
             "(for servers; server.tls-ca in the library) or proxy.tls-ca (for clients)";
    default:
      return std::string("the peer's certificate is not valid: ") +
             X509_verify_cert_error_string(verify_error);
  }
}

const char* common_reason(int reason) {
  switch (reason) {
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED:
      return "the server requires a client certificate: "
             "set upstream.tls-cert and upstream.tls-key (server.* in the library)";
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

// `error`: from OpenSSL's queue, after a handshake, a read or a write.
std::string tls_reason(unsigned long error, bool we_are_server) {
  const int reason = ERR_GET_LIB(error) == ERR_LIB_SSL ? ERR_GET_REASON(error) : 0;
  if (is_no_tls(reason))
    return we_are_server ? "the client does not use TLS"
                         : "the server answers without TLS: is this its TLS port? "
                           "To connect without TLS, use redis:// instead of rediss://";
  if (const char* text = common_reason(reason)) return text;
  const char* text = ERR_reason_error_string(error);
  return text == nullptr ? "OpenSSL gives no reason" : text;
}

}  // namespace

void TlsSession::Free::operator()(ssl_st* session) const { SSL_free(session); }

// OpenSSL's own socket BIO would raise SIGPIPE and leave EINTR to the caller.
struct TlsSession::SocketBio {
  static BIO_METHOD* method() {
    static BIO_METHOD* const made = make();
    return made;
  }

 private:
  static BIO_METHOD* make() {
    BIO_METHOD* const made =
        BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "heatsink socket");
    if (made == nullptr) die_of_errno("BIO_meth_new");
    BIO_meth_set_read(made, read);
    BIO_meth_set_write(made, write);
    BIO_meth_set_ctrl(made, control);
    return made;
  }
  static int told(BIO* bio, TlsSession& session, const IoResult& result, int again) {
    session.error_number_ = result.error_number;
    BIO_clear_retry_flags(bio);
    if (result.status == IoStatus::kOk) return static_cast<int>(result.bytes);
    if (result.status == IoStatus::kAgain) BIO_set_flags(bio, again | BIO_FLAGS_SHOULD_RETRY);
    return result.status == IoStatus::kClosed && result.error_number == 0 ? 0 : -1;
  }
  static TlsSession& of(BIO* bio) { return *static_cast<TlsSession*>(BIO_get_data(bio)); }
  static int read(BIO* bio, char* bytes, int size) {
    TlsSession& session = of(bio);
    return told(bio, session, read_some(session.fd_, bytes, static_cast<std::size_t>(size)),
                BIO_FLAGS_READ);
  }
  static int write(BIO* bio, const char* bytes, int size) {
    TlsSession& session = of(bio);
    return told(bio, session, write_some(session.fd_, bytes, static_cast<std::size_t>(size)),
                BIO_FLAGS_WRITE);
  }
  static long control(BIO* bio, int command, long /*number*/, void* /*pointer*/) {
    if (command == BIO_CTRL_EOF) {
      const TlsSession& session = of(bio);
      return session.error_number_ == 0 && !BIO_should_retry(bio) ? 1 : 0;
    }
    return command == BIO_CTRL_FLUSH ? 1 : 0;
  }
};

TlsSession::TlsSession(int fd, TlsContext context)
    : fd_(fd), context_(std::move(context)), session_(SSL_new(context_.get())) {
  BIO* const bio = session_ ? BIO_new(SocketBio::method()) : nullptr;
  if (bio == nullptr) {
    errno = ENOMEM;
    die_of_errno("SSL_new");
  }
  BIO_set_data(bio, this);
  BIO_set_init(bio, 1);
  SSL_set_bio(session_.get(), bio, bio);
  if (context_.is_server()) {
    SSL_set_accept_state(session_.get());
  } else {
    SSL_set_connect_state(session_.get());
    expect_server();
  }
}

TlsSession::~TlsSession() = default;

// RFC 9525: the name must be among the certificate's alternative names; the subject does not count.
// An address must be there as an address.
void TlsSession::expect_server() {
  const std::string& name = context_.server_name();
  if (name.empty()) return;
  X509_VERIFY_PARAM* const expected = SSL_get0_param(session_.get());
  if (X509_VERIFY_PARAM_set1_ip_asc(expected, name.c_str()) == 1) return;
  X509_VERIFY_PARAM_set_hostflags(
      expected, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  if (SSL_set1_host(session_.get(), name.c_str()) != 1 ||
      // SSL_set_tlsext_host_name, without the cast of that macro; the name is copied.
      SSL_ctrl(session_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
               const_cast<char*>(name.c_str())) != 1) {
    errno = ENOMEM;
    die_of_errno("SSL_set1_host");
  }
}

// Peeks at the first byte: 22 begins a TLS handshake (RFC 8446, section 5.1).
bool TlsSession::looks_plain() const {
  char first = 0;
  return ::recv(fd_, &first, 1, MSG_PEEK) == 1 && first != 22;
}

Result<Interest> TlsSession::open() {
  assert(!failed_);
  if (context_.is_server() && !std::exchange(heard_, true) && looks_plain()) {
    failed_ = peer_speaks_plain_ = true;
    return Error{ErrorCode::kProtocol, "TLS: the client does not use TLS"};
  }
  ERR_clear_error();
  const int result = SSL_do_handshake(session_.get());
  if (result == 1) {
    is_open_ = true;
    return Interest::kNone;
  }
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
      return Interest::kRead;
    case SSL_ERROR_WANT_WRITE:
      return Interest::kWrite;
    default:
      failed_ = true;
      return handshake_error();
  }
}

std::optional<Certificate> TlsSession::peer_certificate() const {
  const X509* const certificate = SSL_get0_peer_certificate(session_.get());
  if (certificate == nullptr) return std::nullopt;
  return certificate_facts(certificate);
}

Error TlsSession::handshake_error() {
  const auto refused = [](std::string why) {
    return Error{ErrorCode::kProtocol, "TLS: " + std::move(why)};
  };
  const long verified = SSL_get_verify_result(session_.get());
  if (verified != X509_V_OK)
    return refused(certificate_reason(static_cast<int>(verified), context_.server_name()));
  if (const unsigned long error = ERR_peek_error(); error != 0)
    return refused(tls_reason(error, context_.is_server()));
  if (error_number_ != 0) return refused(std::system_category().message(error_number_));
  return refused(
      context_.is_server()
          ? "the client closed the connection during the handshake"
          : "the server closed the connection during the handshake: is this its TLS port?");
}

IoResult TlsSession::read(char* bytes, std::size_t size) noexcept {
  std::size_t done = 0;
  while (!failed_) {
    ERR_clear_error();
    const auto room = static_cast<int>(std::min<std::size_t>(size - done, INT_MAX));
    const int count = SSL_read(session_.get(), bytes + done, room);
    if (count <= 0) {
      const IoResult end = stopped(count);
      return done > 0 ? IoResult{IoStatus::kOk, done} : end;
    }
    done += static_cast<std::size_t>(count);
    // After a full record more is likely; after a shorter one another read would usually be in
    // vain.
    const bool more = static_cast<std::size_t>(count) == kRecordBytesMax;
    if (!more || size - done < kRecordBytesMax) return {IoStatus::kOk, done};
  }
  return {IoStatus::kClosed, 0, EPROTO};
}

IoResult TlsSession::write(const char* bytes, std::size_t size) noexcept {
  if (failed_) return {IoStatus::kClosed, 0, EPROTO};
  if (size == 0) return {IoStatus::kOk};
  ERR_clear_error();
  const auto most = static_cast<int>(std::min<std::size_t>(size, INT_MAX));
  const int count = SSL_write(session_.get(), bytes, most);
  if (count > 0) return {IoStatus::kOk, static_cast<std::size_t>(count)};
  const IoResult end = stopped(count);
  if (end.status == IoStatus::kClosed && fault_.empty()) hear_last_words();
  return end;
}

// A TLS 1.3 server that requires a certificate says so after the handshake, and closes while bytes
// for it are on the way: the next write gets a reset. The alert came before, so it is read first.
void TlsSession::hear_last_words() noexcept {
  ERR_clear_error();
  char unheard = 0;
  while (SSL_read(session_.get(), &unheard, 1) > 0) {
  }
  if (const unsigned long error = ERR_peek_error(); error != 0)
    fault_ = "TLS: " + tls_reason(error, context_.is_server());
}

// After the handshake reads wait only for input and writes only for output: renegotiation is off.
IoResult TlsSession::stopped(int result) noexcept {
  switch (SSL_get_error(session_.get(), result)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return {IoStatus::kAgain};
    case SSL_ERROR_ZERO_RETURN:
      return {IoStatus::kClosed};
    default:
      break;
  }
  failed_ = true;
  if (const unsigned long error = ERR_peek_error(); error != 0)
    fault_ = "TLS: " + tls_reason(error, context_.is_server());
  return {IoStatus::kClosed, 0, error_number_ != 0 ? error_number_ : EPROTO};
}

void TlsSession::close() {
  if (!is_open_ || failed_) return;
  ERR_clear_error();
  static_cast<void>(SSL_shutdown(session_.get()));  // does not wait for the answer
}

}  // namespace heatsink::net
