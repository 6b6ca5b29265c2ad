// SPDX-License-Identifier: Apache-2.0
// Sends commands to a server on one connection, and matches the replies to them in order.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "heatsink/observe/greeting.h"
#include "heatsink/observe/server_protocol.h"
#include "heatsink/resp/resp.h"

namespace heatsink::observe {

struct CommandPipelineOptions {
  Login login;
  Nanos response_timeout = std::chrono::seconds(5);  // of the oldest command
  std::size_t reply_bytes_max = 64U << 20U;
  std::size_t in_flight_max = 4096;
};

// Not thread-safe. Commands asked before the connection exists wait for it.
class CommandPipeline final : public ServerProtocol {
 public:
  // Called exactly once per command, except after end(): with the reply (which may be the server's
  // error), or with the reason why there will be none. It may call ask(), but must not destroy the
  // pipeline.
  using Answer = std::function<void(const Result<resp::Value>& reply, TimePoint now)>;

  explicit CommandPipeline(CommandPipelineOptions options) : options_(std::move(options)) {}

  // REQUIRES in_flight() < in_flight_max.
  void ask(std::span<const std::string_view> args, TimePoint now, Answer done);
  void ask(std::initializer_list<std::string_view> args, TimePoint now, Answer done) {
    ask(std::span(args.begin(), args.size()), now, std::move(done));
  }
  std::size_t in_flight() const { return questions_.size(); }
  bool is_up() const { return up_; }
  // How long the greeting has waited for its reply; after the greeting, how long the oldest sent
  // command has waited. 0: nothing waits.
  Nanos waiting(TimePoint now) const;

  // If the oldest command has waited longer than response_timeout, all commands get kTimedOut, and
  // the connection stays closed until the next tick.
  void tick(TimePoint now);
  // Closes the connection for good. Commands that still wait get no callback.
  void end() { ended_ = true; }
  // Why there is no connection now; "" while there is one, or before the first attempt.
  const std::string& trouble() const { return trouble_; }
  // Retrying is useless: the server refuses the login, or it is not Redis.
  bool is_hopeless() const { return hopeless_; }

  // Connects only after the first command or tick: a source that is never run opens no connection.
  bool wanted() const override { return begun_ && !ended_ && !hung_; }
  void connected(TimePoint now) override;
  Status received(std::string_view bytes, TimePoint now) override;
  void lost(const Error& why, TimePoint now) override;

 private:
  struct Question {
    std::string request;
    TimePoint sent_at{};
    Answer done;
  };
  Status on_reply(TimePoint now);
  void fail_all(const Error& why, TimePoint now);
  void send(Question& question, TimePoint now);

  CommandPipelineOptions options_;
  std::deque<Question> questions_;
  resp::ReplyScanner scanner_;
  ByteBuffer input_;
  std::size_t greetings_left_ = 0;
  std::optional<TimePoint> greeted_at_;  // set while the greeting waits for its replies
  bool up_ = false;                      // the greeting is answered
  bool hung_ = false;  // closed after a timeout; connects again from the next tick on
  bool begun_ = false;
  bool ended_ = false;
  std::string trouble_;
  bool hopeless_ = false;
};

}  // namespace heatsink::observe
