// SPDX-License-Identifier: Apache-2.0
// Opens the stream of one connection to a server, within time limits, and reads and writes it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/upstream_address.h"
#include "heatsink/upstream/servers_state.h"

namespace heatsink::proxy {

// One per connection; the worker's thread. Order of calls: connect(), again after is_withheld();
// open_further() until it returns true; then read() and write(), and end_deadline() once the login
// has succeeded; at last close() or release(). take_over() stands for all up to end_deadline().
// Reading, writing and watching allocate nothing. It does not know what the bytes mean.
class ServerStream {
 public:
  // Implemented by Upstream, and by tests.
  class Owner {
   public:
    // It could not be opened, or not in time. Called in open_further() or by a timer, never in
    // connect(). The owner calls close().
    virtual void fail(const std::string& reason) = 0;

   protected:
    ~Owner() = default;
  };

  // All outlive it. `events`: gets the events of the stream.
  ServerStream(net::EventLoop& loop, ServersState& shared, redis::UpstreamAddress& server,
               net::FdHandler& events, Owner& owner)
      : loop_(loop),
        shared_(shared),
        server_(server),
        events_(events),
        owner_(owner),
        moves_(server.moves()),
        where_(server.where()) {}
  ~ServerStream();
  ServerStream(const ServerStream&) = delete;

  // ---- opening

  // Limited by upstream.connect-timeout.
  void connect();
  // connect() found that no server may be used. Call it again once there is one; it fails after
  // upstream.connect-wait.
  bool is_withheld() const { return is_withheld_; }
  // The stream is ready for the next step. True: it is open, and the server must let the proxy in
  // before end_deadline(), within upstream.response-timeout of accepting the connection. False: it
  // waits for another event, or has failed.
  bool open_further();
  void end_deadline() { loop_.cancel(std::exchange(deadline_, 0)); }
  // Instead of connect(): an open stream of another process. Errors: those of EventLoop::add().
  Status take_over(net::Stream stream);

  // ---- the server

  redis::UpstreamAddress& server() const { return server_; }
  const std::string& where() const { return where_; }  // when the stream was opened
  // The server has moved since.
  bool is_outdated() const { return moves_ != server_.moves(); }

  // ---- bytes

  net::IoResult read(char* bytes, std::size_t size) { return stream_.read(bytes, size); }
  net::IoResult write(std::string_view bytes) { return stream_.write(bytes.data(), bytes.size()); }
  std::string loss() const { return stream_.loss(); }
  // Whether to report that bytes can be written. No effect without a stream.
  void want_write(bool wanted) {
    writes_ = wanted;
    watch();
  }
  // Reports nothing to read: the server's bytes wait in the socket.
  void pause(bool paused) {
    if (paused_ == paused) return;
    paused_ = paused;
    watch();
  }
  bool is_paused() const { return paused_; }

  // ---- the end

  void close();
  // close() will drop what this machine has not delivered.
  void reset_at_close() { stream_.reset_at_close(); }
  // To another process. REQUIRES is_plain().
  net::Stream release();
  bool is_plain() const { return stream_.is_plain(); }
  int fd() const { return stream_.fd(); }

 private:
  void await_login();
  void watch();

  net::EventLoop& loop_;
  ServersState& shared_;
  redis::UpstreamAddress& server_;
  net::FdHandler& events_;
  Owner& owner_;
  std::uint64_t moves_;  // of the server, before the stream was opened
  std::string where_;
  net::Stream stream_;
  net::TimerId deadline_ = 0;  // limits first the connecting, then the login
  bool is_withheld_ = false;
  bool accepted_ = false;  // the server, or its kernel, has accepted the connection
  bool is_open_ = false;
  bool paused_ = false;
  bool writes_ = false;
};

}  // namespace heatsink::proxy
