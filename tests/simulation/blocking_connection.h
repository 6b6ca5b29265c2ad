// SPDX-License-Identifier: Apache-2.0
// A Redis connection of a simulated thread, which waits for each reply.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/net/net.h"
#include "heatsink/resp/value.h"
#include "tests/simulation/fibers.h"

namespace heatsink::simulation {

// Of one fiber, on a loop that a Node runs. Connects when it is asked, and again after a loss.
class BlockingConnection final : public net::FdHandler {
 public:
  static constexpr Nanos kPatience = std::chrono::seconds(5);

  BlockingConnection(Fibers& fibers, net::EventLoop& loop, const net::ResolvedAddress& server)
      : fibers_(fibers), loop_(loop), server_(server) {}
  ~BlockingConnection() { close(); }
  BlockingConnection(const BlockingConnection&) = delete;

  // Throws std::runtime_error: the connection was lost, no reply in time, or the server's error.
  // Then it is unknown whether the request was executed.
  resp::Value ask(const std::vector<std::string_view>& request);

  void on_readable() override;
  void on_writable() override;

 private:
  void write_out();
  void lose();
  void close();

  Fibers& fibers_;
  net::EventLoop& loop_;
  const net::ResolvedAddress server_;
  net::Stream stream_;
  ByteBuffer in_, out_;
  Fiber* waits_ = nullptr;
  std::optional<resp::Value> reply_;
};

}  // namespace heatsink::simulation
