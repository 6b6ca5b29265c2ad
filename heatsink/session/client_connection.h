// SPDX-License-Identifier: Apache-2.0
// Reads one client's requests from its socket, writes its replies, and notices when the client
// stops reading.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/net/net.h"
#include "heatsink/session/client_transport.h"

namespace heatsink::proxy {

// Owns the stream, which may be plain, TLS, or part of a simulated network. One worker's thread.
// Costs one read per batch of requests and one write per batch of replies. Memory: output(), which
// is released when it is empty and larger than kKeptBytes.
class ClientConnection final : public ClientTransport, private net::FdHandler {
 public:
  // The worker that owns the connection.
  class Host {
   public:
    // A buffer for the time of one call; at least net::TlsSession::kRecordBytesMax.
    virtual std::span<char> read_buffer() = 0;
    // The client has stopped reading: the host polls is_blocked() and is_stuck() from now on.
    virtual void output_blocked(std::uint64_t client) = 0;

   protected:
    ~Host() = default;
  };
  static constexpr std::size_t kKeptBytes = 64 * 1024;

  // `host` and `loop` outlive it. `id`: the client's number, passed to the host.
  ClientConnection(Host& host, net::EventLoop& loop, net::Stream stream, std::uint64_t id)
      : host_(host), loop_(loop), stream_(std::move(stream)), id_(id) {}
  ~ClientConnection() { close(); }
  ClientConnection(const ClientConnection&) = delete;

  // Starts reading; called once. `listener` lives until close(). Returns the errors of
  // EventLoop::add(), after which the connection is closed.
  [[nodiscard]] Status start(Listener& listener);

  Written write() override;
  std::string local_text() const override { return stream_.local_text(); }
  void set_reading(bool wanted) override;
  bool peer_has_ended() const override { return stream_.peer_has_ended(); }
  void end_output() override { stream_.end_output(); }
  void close() override;

  // Takes the stream out of its loop, so that another worker can serve the client. REQUIRES an
  // empty output().
  net::Stream release_stream();
  bool is_plain() const { return stream_.is_plain(); }
  int fd() const { return stream_.fd(); }
  // Whether the client has sent anything since the last call.
  bool take_active() { return std::exchange(active_, false); }

  bool is_blocked() const { return blocked_; }
  // The client has taken no byte for longer than `limit`.
  bool is_stuck(TimePoint now, Nanos limit) const { return blocked_ && now - progress_at_ > limit; }

 private:
  void on_readable() override;
  void on_writable() override;
  void watch();

  Host& host_;
  net::EventLoop& loop_;
  net::Stream stream_;
  const std::uint64_t id_;
  Listener* listener_ = nullptr;  // null: not in the loop
  bool reading_ = true;
  bool blocked_ = false;
  bool active_ = false;
  TimePoint progress_at_{};  // when the client last took a byte
};

}  // namespace heatsink::proxy
