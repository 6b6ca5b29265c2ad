// SPDX-License-Identifier: Apache-2.0
// Talks with a server from a thread without an event loop: sends commands, waits for replies.
#pragma once

#include <atomic>
#include <cstddef>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/net/net.h"
#include "heatsink/resp/resp.h"

namespace heatsink::doctor {

// One thread. Blocks, but never past a deadline (except for a look-up of a name, which connect()
// does not make). Memory: at most kReplyBytesMax bytes of one reply, and a few times that as a
// value. After an error only the destructor may be called.
class Conversation {
 public:
  static constexpr std::size_t kReplyBytesMax = std::size_t{8} << 20U;
  static constexpr std::size_t kPushesMax = 64;
  static constexpr std::size_t kFirstBytesMax = 64;

  // `stop`: once it is set, everything ends with kTimedOut within kSlice; may be null.
  explicit Conversation(const std::atomic<bool>* stop = nullptr) : stop_(stop) {}
  static constexpr Nanos kSlice = Millis(100);

  // Tries the addresses in order until one of them accepts, each for at most `each`.
  Status connect(std::span<const net::ResolvedAddress> addresses, const net::TlsContext& tls,
                 Nanos each, TimePoint deadline);
  const net::ResolvedAddress& address() const { return address_; }
  // The peer accepted the TCP connection, whatever came then.
  bool was_accepted() const { return was_accepted_; }
  std::optional<net::Certificate> peer_certificate() const { return stream_.peer_certificate(); }

  // Buffers a command; receive() sends it.
  void ask(std::span<const std::string_view> words);
  void ask(std::initializer_list<std::string_view> words) { ask(std::span(words)); }
  ByteBuffer& output() { return output_; }

  // The next reply. Errors: kTimedOut, kUnavailable (closed), kProtocol (no RESP), kOutOfRange (too
  // large). Pushes are put into pushes() instead.
  Result<resp::Value> receive(TimePoint deadline);
  // Waits for a push; an error as above. A reply that comes instead is an error.
  Result<resp::Value> receive_push(TimePoint deadline);

  // The first bytes that came, at most kFirstBytesMax.
  const std::string& first_bytes() const { return first_bytes_; }

 private:
  bool wait(net::Interest interest, TimePoint deadline) const;
  Status open(TimePoint deadline);
  Status flush(TimePoint deadline);
  Status read_more(TimePoint deadline);
  Result<resp::Value> next(TimePoint deadline);

  const std::atomic<bool>* const stop_;
  net::Stream stream_;
  net::ResolvedAddress address_{};
  bool was_accepted_ = false;
  ByteBuffer output_;
  std::string input_;        // from the beginning of the current element on
  std::size_t scanned_ = 0;  // of input_
  resp::ReplyScanner scanner_;
  std::string first_bytes_;
  std::vector<resp::Value> pushes_;
};

}  // namespace heatsink::doctor
