// SPDX-License-Identifier: Apache-2.0
// The socket of one client: reads its requests, writes its replies, and knows whether it takes
// them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/net/net.h"
#include "heatsink/proxy/client_transport.h"

namespace heatsink::proxy {

// Owns the stream, which may be plain, TLS, or of a simulated network. One worker's thread. Costs
// one read per batch of requests and one write per batch of replies. Memory: output(), which is
// given back when it is empty and larger than kKeptBytes.
class ClientConnection final : public ClientTransport, private net::FdHandler {
 public:
  // The worker that it belongs to.
  class Host {
   public:
    // Where bytes are read to, for the time of a call; at least net::TlsSession::kRecordBytesMax.
    virtual std::span<char> read_buffer() = 0;
    // The client has stopped to read: from now on ask is_blocked() and is_stuck() now and then.
    virtual void output_blocked(std::uint64_t client) = 0;

   protected:
    ~Host() = default;
  };
  static constexpr std::size_t kKeptBytes = 64 * 1024;

  // `host` and `loop` outlive it. `id`: its client's number, told to the host.
  ClientConnection(Host& host, net::EventLoop& loop, net::Stream stream, std::uint64_t id)
      : host_(host), loop_(loop), stream_(std::move(stream)), id_(id) {}
  ~ClientConnection() { close(); }
  ClientConnection(const ClientConnection&) = delete;

  // Reads from now on. Once; `listener` lives until close(). Errors: those of EventLoop::add();
  // then it is closed.
  [[nodiscard]] Status start(Listener& listener);

  Written write() override;
  void set_reading(bool wanted) override;
  bool peer_has_ended() const override { return stream_.peer_has_ended(); }
  void close() override;

  // The stream leaves its loop, with its client, for another worker's. REQUIRES nothing to write.
  net::Stream leave();
  // Whether the client has sent anything since the last call.
  bool take_active() { return std::exchange(active_, false); }

  bool is_blocked() const { return blocked_; }
  // It has not taken a byte for longer than this.
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
