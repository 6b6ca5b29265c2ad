// SPDX-License-Identifier: Apache-2.0
// Many clients with near caches of their own (CLIENT TRACKING), in one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/resp/resp.h"

namespace heatsink::bench {

// "k0" .. of so many keys. A client that tracks keeps what it has read until a push ends it, as
// client libraries do, and without a limit.
class NearCrowd {
 public:
  using Number = std::uint32_t;  // of a client, of a key

  explicit NearCrowd(Number keys);
  ~NearCrowd();
  NearCrowd(const NearCrowd&) = delete;

  // A client more; returns its number.
  Number join(int port, bool tracks);

  // What each push says, and each reply (with its first byte).
  std::function<void(Number client, Number key, TimePoint at)> on_push;
  std::function<void(Number client, char type, TimePoint at)> on_reply;

  Number size() const { return static_cast<Number>(clients_.size()); }
  // Whether the client keeps the key. If it does not, read() sends GET.
  bool keeps(Number client, Number key) const { return clients_[client]->kept[key]; }
  void read(Number client, Number key);
  void send(Number client, std::initializer_list<std::string_view> request);
  std::size_t owed(Number client) const { return clients_[client]->owed; }
  // Takes what has come; waits for it until `end`, if nothing has.
  void turn(TimePoint end);
  // Until no client is owed a reply.
  void settle();

 private:
  struct Client {
    int fd = -1;
    std::size_t owed = 0;
    resp::ReplyScanner scanner;
    std::string message;        // what has come of it
    std::vector<Number> asked;  // keys of GETs whose replies are owed
    std::size_t answered = 0;   // so many of them are not owed any more
    std::vector<bool> kept;
  };

  void take(Number number, std::string_view bytes, TimePoint at);
  void end_message(Number number, TimePoint at);

  const Number keys_;
  int epoll_ = -1;
  std::vector<std::unique_ptr<Client>> clients_;
  std::size_t owed_ = 0;
  ByteBuffer wire_;
  std::vector<char> buffer_;
};

}  // namespace heatsink::bench
