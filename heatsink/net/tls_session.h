// SPDX-License-Identifier: Apache-2.0
// Runs TLS on one non-blocking socket. Internal to Stream.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "heatsink/net/channel.h"
#include "heatsink/net/tls_context.h"

struct ssl_st;
struct bio_st;

namespace heatsink::net {

// One thread at a time. The caller keeps the socket and waits for its readiness. Between calls at
// most one record (16 KiB) is buffered each way, none when idle: other bytes stay with the caller
// or in the socket.
//
// A read returns whole records. With room for one (kRecordBytesMax) no decrypted bytes stay behind
// that a level-triggered loop would not report.
// behind that a level-triggered loop would not tell of.
class TlsSession final : public Channel {
 public:
  static constexpr std::size_t kRecordBytesMax = 16 * 1024;

  TlsSession(int fd, TlsContext context);
  ~TlsSession() override;
  TlsSession(const TlsSession&) = delete;

  Result<Interest> open() override;  // one step of the handshake
  bool is_open() const override { return is_open_; }

  IoResult read(char* bytes, std::size_t size) noexcept override;
  IoResult write(const char* bytes, std::size_t size) noexcept override;
  bool peer_has_ended() const noexcept override { return net::peer_has_ended(fd_); }
  void close() override;  // sends close_notify
  void end_output() override {
    close();
    net::end_output(fd_);
  }

  std::optional<Certificate> peer_certificate() const override;
  bool peer_speaks_plain() const override { return peer_speaks_plain_; }
  std::string fault() const override { return fault_; }

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
