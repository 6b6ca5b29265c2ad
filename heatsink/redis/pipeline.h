// SPDX-License-Identifier: Apache-2.0
// One connection for the commands of many callers: requests out, replies back in their order.
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
  std::string name = "heatsink-client";  // in CLIENT LIST
  std::uint32_t db = 0;
  // A server that owes the oldest reply for so long is given up, with all who wait.
  Nanos response_timeout = std::chrono::seconds(5);
};

// A state machine: bytes and times in, bytes and replies out. One thread. RESP3. Never tracked:
// what is read here can be kept by nobody. Holds one request and its callback for each caller who
// waits, so callers are what bounds it.
class Pipeline final : public ConnectionProtocol {
 public:
  // The reply, which may be an error of the server's; or why there is none, and then nobody knows
  // whether a request that had been sent was executed.
  using Done = std::function<void(Result<resp::Value>)>;

  // One reply at most, as the server's own limit on strings has it.
  static constexpr std::size_t kReplyBytesMax = 513 * 1024 * 1024;

  explicit Pipeline(PipelineOptions options) : options_(std::move(options)) {}

  // `done` is called exactly once, by this call or a later one. While it connects, requests wait;
  // once an attempt has failed they fail at once, until the next has succeeded.
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
    Done done;  // empty: of the handshake
    TimePoint asked_at;
  };
  struct Waiting {
    std::string request;
    Expected expected;
  };

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
