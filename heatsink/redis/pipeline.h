// SPDX-License-Identifier: Apache-2.0
// Shares one connection among many callers: sends their requests and returns the replies in order.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/redis/connection_protocol.h"
#include "heatsink/redis/credentials.h"
#include "heatsink/resp/reply_scanner.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

struct PipelineOptions {
  Credentials credentials = {};
  std::string name = "heatsink-client";  // as CLIENT LIST shows it
  std::uint32_t db = 0;
  bool counts_requests = true;  // false: take_commands() counts the handshake only
  // If the oldest reply is later than this, the connection is closed and all waiting callers fail.
  Nanos response_timeout = std::chrono::seconds(5);
};

// A state machine: bytes and times in, bytes and replies out. One thread. RESP3. It does not use
// client tracking, so callers must not keep what they read. Memory: one request and one callback
// per waiting caller; only the number of callers limits it.
class Pipeline final : public ConnectionProtocol {
 public:
  // Gets the reply, which may be the server's error. Or gets the reason why there is none; a
  // request that was sent may then have been executed or not.
  using Done = std::function<void(Result<resp::Value>)>;

  // The maximum length of one reply. The server's own limit on strings is 512 MiB.
  static constexpr std::size_t kReplyBytesMax = 513 * 1024 * 1024;

  explicit Pipeline(PipelineOptions options) : options_(std::move(options)) {}

  // Calls `done` exactly once, now or later. Requests wait while the connection is being made.
  // After a failed attempt they fail at once, until an attempt succeeds.
  void ask(std::span<const std::string_view> request, Done done, TimePoint now);

  void connected(TimePoint now) override;
  Status received(std::string_view bytes, TimePoint now) override;
  Status tick(TimePoint now) override;
  void disconnected(const std::string& reason) override;
  bool up() const override { return state_ == State::kUp; }
  ByteBuffer& output() override { return output_; }

 private:
  enum class State : std::uint8_t { kConnecting, kHandshake, kUp, kDown };
  struct Expected {
    Done done;  // empty: a reply to the handshake
    TimePoint asked_at;
  };
  struct Waiting {
    std::string request;
    Expected expected;
  };

  void expect(Expected expected);
  Status on_reply(resp::Value reply);
  void go_up();

  const PipelineOptions options_;
  State state_ = State::kConnecting;
  std::string problem_;
  resp::ReplyScanner scanner_;
  ByteBuffer input_;
  ByteBuffer output_;
  std::deque<Expected> expected_;
  std::deque<Waiting> waiting_;
};

}  // namespace heatsink::redis
