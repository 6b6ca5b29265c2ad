// SPDX-License-Identifier: Apache-2.0
// Connects a test to its redis-server: requests as lists of words, replies as values.
#pragma once

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/resp/value.h"
#include "heatsink/resp/writer.h"

namespace heatsink::resp::testing {

// Throws, which fails the test, if the server is gone or does not send RESP. Not thread-safe.
class RedisConnection {
 public:
  explicit RedisConnection(const std::string& socket_path)
      : fd_(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    socket_path.copy(address.sun_path, sizeof address.sun_path - 1);
    if (connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
      throw std::runtime_error("no connection to " + socket_path);
    }
  }
  ~RedisConnection() { close(fd_); }
  RedisConnection(const RedisConnection&) = delete;
  RedisConnection& operator=(const RedisConnection&) = delete;

  // One reply per request, in order. Sends all requests before it reads a reply; the server buffers
  // the replies.
  std::vector<Value> ask(const std::vector<std::vector<std::string>>& requests) {
    ByteBuffer out;
    for (const std::vector<std::string>& request : requests) {
      append_request(out, std::vector<std::string_view>(request.begin(), request.end()));
    }
    send_all(out.view());
    std::vector<Value> replies;
    while (replies.size() < requests.size()) replies.push_back(read_reply());
    return replies;
  }

 private:
  void send_all(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t n = send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) throw std::runtime_error("the server takes no requests");
      bytes.remove_prefix(static_cast<std::size_t>(n));
    }
  }

  Value read_reply() {
    Value value;
    std::size_t consumed = 0;
    ValueStatus status;
    while ((status = parse_value(in_.view(), value, consumed)) == ValueStatus::kNeedMore) {
      constexpr std::size_t kPieceBytes = 256 * 1024;
      const ssize_t n = recv(fd_, in_.prepare(kPieceBytes), kPieceBytes, 0);
      if (n <= 0) throw std::runtime_error("the server ended in the middle of a reply");
      in_.commit(static_cast<std::size_t>(n));
    }
    if (status == ValueStatus::kError) throw std::runtime_error("the server does not speak RESP");
    in_.consume(consumed);
    return value;
  }

  int fd_;
  ByteBuffer in_;
};

}  // namespace heatsink::resp::testing
