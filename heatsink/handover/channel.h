// SPDX-License-Identifier: Apache-2.0
// Carries messages and file descriptors between two processes on one machine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/handover/message.h"
#include "heatsink/net/net.h"

namespace heatsink::handover {

// One end of a Unix socket that keeps packets apart (SOCK_SEQPACKET). Sending is thread-safe; one
// thread receives. Packets that were sent before the other process ended still arrive.
class Channel {
 public:
  Channel() = default;
  explicit Channel(net::Fd socket);

  // Two connected ends; the second one is for another process. Both are closed by exec().
  static Result<std::pair<Channel, Channel>> make_pair();
  // Takes a descriptor that was inherited. Errors: it is no such socket, or its other end belongs
  // to another user, except root.
  static Result<Channel> adopt(int descriptor);

  explicit operator bool() const { return static_cast<bool>(socket_); }
  int fd() const { return socket_.get(); }
  void close() { socket_.close(); }

  enum class Sent : std::uint8_t {
    kSent,
    kFull,    // the other process does not read, or the kernel holds too many descriptors: later
    kTooBig,  // longer than kMessageBytesMax
    kBroken,  // the other process is gone
  };
  // Does not wait. The other process gets copies of the descriptors.
  Sent send(const Message& message, std::span<const int> descriptors = {}) const;
  // The same, while it is kFull, for at most `limit`.
  Sent send_within(Nanos limit, const Message& message,
                   std::span<const int> descriptors = {}) const;

  struct Received {
    std::optional<Message> message;
    std::vector<net::Fd> descriptors;  // as many as descriptors_of(message)
    bool ended = false;                // the other process is gone
  };
  // Waits for at most `limit`: without a message the time is over, or the other process is gone.
  // Error: it sent something else than a message.
  Result<Received> receive(Nanos limit);

 private:
  net::Fd socket_;
  std::string buffer_;
};

}  // namespace heatsink::handover
