// SPDX-License-Identifier: Apache-2.0
// Sends questions to a server on one connection, and matches its answers to them in order.
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
  Nanos response_timeout = std::chrono::seconds(5);  // of the oldest question
  std::size_t reply_bytes_max = 64U << 20U;
  std::size_t in_flight_max = 4096;
};

// Not thread-safe. What is asked before the connection is made waits for it.
class CommandPipeline final : public ServerProtocol {
 public:
  // Called once per question: with the reply (which may be the server's error), or with why there
  // will be none. It may ask again, and must not destroy the pipeline.
  using Answer = std::function<void(const Result<resp::Value>& reply, TimePoint now)>;

  explicit CommandPipeline(CommandPipelineOptions options) : options_(std::move(options)) {}

  // REQUIRES in_flight() < in_flight_max.
  void ask(std::span<const std::string_view> args, TimePoint now, Answer done);
  void ask(std::initializer_list<std::string_view> args, TimePoint now, Answer done) {
    ask(std::span(args.begin(), args.size()), now, std::move(done));
  }
  std::size_t in_flight() const { return questions_.size(); }
  bool is_up() const { return up_; }
  // How long the greeting waits for its reply, or else the oldest question that has been sent; 0:
  // neither.
  Nanos waiting(TimePoint now) const;

  // kTimedOut when the oldest question waits too long, and then all have been answered with it and
  // the connection is not wanted until the next tick.
  void tick(TimePoint now);
  // The connection is to be closed for good; what was asked is answered by nobody.
  void end() { ended_ = true; }
  // Why there is no connection now; "" if there is one, or none has been tried.
  const std::string& trouble() const { return trouble_; }
  // It will not get better by trying again: the login is refused, or that is no Redis.
  bool is_hopeless() const { return hopeless_; }

  // Not before the first question or tick: a source that nobody runs opens no connection.
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
  std::optional<TimePoint> greeted_at_;  // it is not answered yet
  bool up_ = false;                      // greeted
  bool hung_ = false;  // closed because it did not answer; wanted again from the next tick on
  bool begun_ = false;
  bool ended_ = false;
  std::string trouble_;
  bool hopeless_ = false;
};

}  // namespace heatsink::observe
