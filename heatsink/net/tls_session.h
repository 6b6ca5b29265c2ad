// SPDX-License-Identifier: Apache-2.0
// TLS on one non-blocking socket. Internal to Stream.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "heatsink/net/event_loop.h"
#include "heatsink/net/socket.h"
#include "heatsink/net/tls_context.h"

struct ssl_st;
struct bio_st;

namespace heatsink::net {

// One thread at a time. The socket stays the caller's, who waits for its readiness. Nothing is
// buffered between two calls but one record each way (16 KiB), none when idle: what the socket does
// not take, or nobody reads, stays where it is.
//
// A read gives whole records, so with room for one (kRecordBytesMax) nothing decrypted is left
// behind that a level-triggered loop would not tell of.
class TlsSession {
 public:
  static constexpr std::size_t kRecordBytesMax = 16 * 1024;

  TlsSession(int fd, TlsContext context);
  ~TlsSession();
  TlsSession(const TlsSession&) = delete;

  bool is_open() const { return is_open_; }
  // One step: kNone when done, else what to wait for. Errors say whose fault it is, for an
  // operator.
  Result<Interest> shake_hands();

  IoResult read(char* bytes, std::size_t size) noexcept;
  // After kAgain the same bytes come again first, perhaps from another place.
  IoResult write(const char* bytes, std::size_t size) noexcept;
  void say_goodbye();  // close_notify, if there is room for it

  bool peer_speaks_plain() const { return peer_speaks_plain_; }

  // Why the last read or write has ended the connection; "": the other side just closed.
  const std::string& fault() const { return fault_; }

 private:
  struct SocketBio;
  struct Free {
    void operator()(ssl_st* session) const;
  };

  void expect_server();
  bool looks_plain() const;
  Error handshake_error();
  IoResult stopped(int result) noexcept;
  void hear_last_words() noexcept;

  const int fd_;
  const TlsContext context_;
  int error_number_ = 0;  // of the last call on the socket
  bool is_open_ = false;
  bool failed_ = false;
  bool heard_ = false;  // the first byte has come
  bool peer_speaks_plain_ = false;
  std::string fault_;
  std::unique_ptr<ssl_st, Free> session_;
};

}  // namespace heatsink::net
