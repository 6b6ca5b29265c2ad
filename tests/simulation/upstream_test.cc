// SPDX-License-Identifier: Apache-2.0
// One connection to the server, between a played server, a played worker and played clients.
#include "heatsink/upstream/upstream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/relief/shared_state.h"
#include "heatsink/resp/resp.h"
#include "heatsink/upstream/connection_owner.h"
#include "tests/simulation/network.h"

namespace heatsink::simulation {
namespace {

using proxy::Pending;
using proxy::PendingKind;
using proxy::ReplyQueue;
using proxy::Upstream;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint16_t kUpstreamPort = 7001;
constexpr std::string_view kHelloReply = "*2\r\n$2\r\nid\r\n:7\r\n";

// All that happens, in its order: "settled 1", "client 1 gets +OK".
using Events = std::vector<std::string>;

std::string shown(std::string_view bytes) {
  std::string out;
  for (const char c : bytes) out += c == '\r' ? "" : (c == '\n' ? "|" : std::string(1, c));
  return out;
}

class PlayedClient final : public proxy::ConnectionOwner {
 public:
  PlayedClient(Events& events, std::uint64_t id) : events_(events), id_(id) {}

  Pending request() {
    Pending pending;
    pending.session = this;
    pending.ticket = ++last_ticket_;
    pending.read_only = true;
    return pending;
  }

  // As a session marks most of its requests.
  Pending usual_request() {
    Pending pending = request();
    pending.is_usual = true;
    return pending;
  }

  std::uint64_t id() const override { return id_; }
  bool closed() const override { return is_closed; }
  void take_reply(ReplyQueue::Ticket ticket, std::string_view bytes) override {
    note("gets " + std::to_string(ticket) + " " + shown(bytes));
  }
  void take_private(ReplyQueue::Ticket ticket, std::string_view bytes) override {
    note((ticket == ReplyQueue::kNone ? "hears " : "gets ") + shown(bytes));
  }
  void take_whole(const Pending& pending, std::string_view bytes, TimePoint read_at) override {
    note("whole " + std::to_string(pending.ticket) + " " + shown(bytes));
    last_reply_at = read_at;
  }
  void reply_done(Pending& pending, bool ok, const resp::ReplyScanner& /*reply*/,
                  std::string_view kept) override {
    note("done " + std::to_string(pending.ticket) + (ok ? "" : " error") +
         (kept.empty() ? "" : " " + shown(kept)));
  }
  void reply_lost(Pending& pending, bool begun, const std::string& /*reason*/) override {
    note("lost " + std::to_string(pending.ticket) + (begun ? " begun" : ""));
  }
  void note_reply_at(TimePoint at) override { last_reply_at = at; }
  void hold() override {}
  void ask_again(std::string_view request, const Pending& pending) override {
    note("again " + std::to_string(pending.ticket) + " " + shown(request));
  }
  bool may_ask_again(ReplyQueue::Ticket /*ticket*/) const override { return is_repeatable; }
  bool congested() const override { return is_congested; }
  bool receives_messages() const override { return is_subscriber; }
  void private_ready() override {}
  std::unique_ptr<Upstream> private_failed(const std::string& /*reason*/) override {
    return nullptr;
  }

  bool is_closed = false, is_repeatable = false, is_congested = false, is_subscriber = false;
  TimePoint last_reply_at{};

 private:
  void note(const std::string& what) {
    events_.push_back("client " + std::to_string(id_) + " " + what);
  }

  Events& events_;
  const std::uint64_t id_;
  ReplyQueue::Ticket last_ticket_ = 0;
};

class PlayedWorker final : public Upstream::Host {
 public:
  explicit PlayedWorker(Events& events) : events_(events) {}

  char* scratch() override { return scratch_.data(); }
  void flush_later(Upstream& upstream) override {
    if (upstream.mark_dirty()) dirty.push_back(&upstream);
  }
  void ready(Upstream& /*upstream*/) override { events_.emplace_back("ready"); }
  void failed(Upstream& /*upstream*/, const std::string& reason) override {
    events_.push_back("failed: " + reason);
  }
  void settle(Pending& pending, TimePoint /*now*/, copies::Shown shown_as) override {
    if (std::exchange(pending.settled, true)) return;
    events_.push_back("settled " + std::to_string(pending.ticket) +
                      (shown_as == copies::Shown::kNothing ? " unseen" : ""));
  }
  void answered(const Pending& pending, const Upstream::Answer& answer) override {
    if (pending.kind == PendingKind::kGathered)
      events_.push_back("gathered " + shown(answer.captured));
    bytes_answered += answer.bytes;
  }
  bool reroute(Upstream& /*from*/, Pending& /*pending*/, std::string_view /*request*/,
               std::string_view /*error*/) override {
    return false;
  }
  void gathered_lost(std::uint32_t /*number*/, const std::string& /*reason*/) override {
    events_.emplace_back("gathered lost");
  }
  void note_reply_size(const Pending& /*pending*/, std::uint64_t /*bytes*/) override {}

  std::vector<Upstream*> dirty;
  std::uint64_t bytes_answered = 0;

 private:
  Events& events_;
  std::vector<char> scratch_ = std::vector<char>(Upstream::kScratchBytes);
};

// Answers what comes with what it was given to say, request by request; says more when told to.
class PlayedServer final : public net::FdHandler {
 public:
  explicit PlayedServer(Network& network) : node(network, "server"), loop(node.poller()) {
    node.run(loop);
    network.listen(kUpstreamPort, node, [this](net::Stream accepted, const std::string&) {
      stream = std::move(accepted);
      ASSERT_TRUE(loop.add(stream.fd(), net::Interest::kRead, *this).ok());
    });
  }
  ~PlayedServer() {
    if (stream) loop.remove(stream.fd());
    node.leave();
  }
  void on_readable() override {
    std::array<char, 4096> bytes;
    const net::IoResult got = stream.read(bytes.data(), bytes.size());
    if (got.status == net::IoStatus::kClosed) return loop.change(stream.fd(), net::Interest::kNone);
    heard.append(bytes.data(), got.bytes);
    resp::RequestParser parser;
    while (parser.parse(heard) == resp::ParseStatus::kRequest) {
      const bool greets = parser.args().front() == "HELLO";
      asked.emplace_back(heard.substr(0, parser.size()));
      heard.erase(0, parser.size());
      if (greets) {
        say(kHelloReply);
      } else if (!answers.empty()) {
        say(answers.front());
        answers.pop_front();
      }
    }
  }
  void on_writable() override {}
  void say(std::string_view bytes) {
    ASSERT_EQ(stream.write(bytes.data(), bytes.size()).bytes, bytes.size());
  }
  void hang_up() {
    loop.remove(stream.fd());
    stream.close();
  }

  Node node;
  net::EventLoop loop;
  net::Stream stream;
  std::string heard;
  std::vector<std::string> asked;
  std::deque<std::string> answers;
};

policy::ProxyOptions upstream_options() {
  policy::ProxyOptions options;
  options.upstream = "redis://127.0.0.1:" + std::to_string(kUpstreamPort);
  options.stream_threshold = Bytes{1000};
  return options;
}

class UpstreamTest : public testing::Test {
 protected:
  UpstreamTest() {
    node_.run(loop_);
    shared_.upstream_address.set_addresses({address_of(kUpstreamPort)});
    loop_.on_turn_end([this] {
      for (Upstream* upstream : std::exchange(worker_.dirty, {})) upstream->flush_dirty();
    });
  }
  ~UpstreamTest() override {
    connection_.reset();
    node_.leave();
  }

  void connect(proxy::ConnectionOwner* owner = nullptr) {
    if (owner != nullptr) shared_.private_connections.fetch_add(1);  // as its pool does
    connection_ = std::make_unique<Upstream>(worker_, loop_, shared_, shared_.upstream_address,
                                             resp::Protocol::kResp2, Upstream::Login::kOwn, owner);
    node_.post([this] { connection_->connect(); });
    pass();
    ASSERT_THAT(events_, ElementsAre("settled 0", "ready"));  // HELLO
    events_.clear();
    server_.asked.clear();
  }
  // In a turn of the worker's loop.
  void send(std::string_view request, Pending pending) {
    auto shared = std::make_shared<Pending>(std::move(pending));
    node_.post([this, text = std::string(request), shared] {
      connection_->send(text, std::move(*shared));
    });
  }
  void pass(Nanos time = Millis(500)) { scheduler_.run_until(scheduler_.now() + time); }
  Events events() { return std::exchange(events_, {}); }

  Scheduler scheduler_{5};
  Network network_{scheduler_, {.split = 0}};
  Node node_{network_, "worker"};
  net::EventLoop loop_{node_.poller()};
  PlayedServer server_{network_};
  proxy::SharedState shared_{upstream_options(),
                             net::parse_redis_url(upstream_options().upstream).value(), 1};
  Events events_;
  PlayedWorker worker_{events_};
  PlayedClient ann_{events_, 1}, ben_{events_, 2};
  std::unique_ptr<Upstream> connection_;
};

constexpr std::string_view kGet = "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n";

TEST_F(UpstreamTest, EachReplyGoesToWhoAskedAndOnlyAfterItsFence) {
  connect();
  server_.answers = {"$1\r\na\r\n", "-ERR no\r\n", ":3\r\n"};
  send(kGet, ann_.request());
  send(kGet, ben_.request());
  send(kGet, ann_.request());
  pass();
  EXPECT_THAT(events(),
              ElementsAre("settled 1", "client 1 gets 1 $1|a|", "client 1 done 1", "settled 1",
                          "client 2 gets 1 -ERR no|", "client 2 done 1 error", "settled 2",
                          "client 1 gets 2 :3|", "client 1 done 2"));
  EXPECT_EQ(server_.asked.size(), 3u);
  EXPECT_TRUE(connection_->owes_nothing());
  EXPECT_GT(ann_.last_reply_at, TimePoint{});
}

TEST_F(UpstreamTest, AUsualReplyIsHandedOnInOneCall) {
  connect();
  server_.answers = {"$1\r\na\r\n", "+OK\r\n", "-ERR no\r\n", "*1\r\n:1\r\n", ":3\r\n"};
  for (int i = 0; i < 4; ++i) send(kGet, ann_.usual_request());
  send(kGet, ben_.request());
  pass();
  EXPECT_THAT(events(), ElementsAre("settled 1", "client 1 whole 1 $1|a|", "settled 2",
                                    "client 1 whole 2 +OK|", "settled 3",
                                    "client 1 gets 3 -ERR no|", "client 1 done 3 error",
                                    "settled 4", "client 1 gets 4 *1|:1|", "client 1 done 4",
                                    "settled 1", "client 2 gets 1 :3|", "client 2 done 1"));
  EXPECT_TRUE(connection_->owes_nothing());
  EXPECT_EQ(connection_->owed(), 0u);
  EXPECT_EQ(worker_.bytes_answered, 7u + 5 + 9 + 8 + 4);
  EXPECT_GT(ann_.last_reply_at, TimePoint{});
}

TEST_F(UpstreamTest, AUsualReplyThatComesInPartsIsHandedOnAsItComes) {
  connect();
  send(kGet, ann_.usual_request());
  send(kGet, ann_.usual_request());
  pass();
  for (const std::string_view part : {"$", "4\r\nab", "cd\r\n:", "5\r\n"}) {
    server_.say(part);
    pass();
  }
  EXPECT_THAT(events(), ElementsAre("settled 1", "client 1 gets 1 $", "client 1 gets 1 4|ab",
                                    "client 1 gets 1 cd|", "client 1 done 1", "settled 2",
                                    "client 1 gets 2 :", "client 1 gets 2 5|", "client 1 done 2"));
}

TEST_F(UpstreamTest, AUsualReplyTooBigToShareIsAskedForAgain) {
  connect();
  ann_.is_repeatable = ben_.is_repeatable = true;
  ben_.is_congested = true;
  server_.answers = {"$2000\r\n" + std::string(2000, 'x') + "\r\n", "$1\r\na\r\n"};
  send(kGet, ann_.usual_request());
  send(kGet, ben_.usual_request());
  pass();
  EXPECT_THAT(events(),
              ElementsAre("settled 1", "client 1 again 1 *2|$3|GET|$1|k|", "client 1 done 0",
                          "settled 1", "client 2 again 1 *2|$3|GET|$1|k|", "client 2 done 0"));
}

TEST_F(UpstreamTest, WhatIsLostIsToldOnceAndOnlyWhatMayHaveBeenSeenIsFenced) {
  connect();
  send(kGet, ann_.request());
  send(kGet, ben_.request());
  pass();
  server_.say("$10\r\nhalf");
  pass();
  EXPECT_THAT(events(), ElementsAre("settled 1", "client 1 gets 1 $10|half"));
  server_.hang_up();
  pass();
  EXPECT_THAT(events(), ElementsAre("client 1 lost 1 begun", "settled 1 unseen", "client 2 lost 1",
                                    HasSubstr("failed: ")));
}

TEST_F(UpstreamTest, AReplyThatNobodyAskedForEndsTheConnection) {
  connect();
  server_.say("+OK\r\n");
  pass();
  EXPECT_THAT(events(), ElementsAre("failed: the server sent a reply without a request"));
}

// The reply to a request that is still in our buffer: its bytes are another's.
TEST_F(UpstreamTest, AReplyToWhatHasNotBeenSentEndsTheConnection) {
  network_.options().window_bytes = 100;
  connect();
  server_.node.stop_for(std::chrono::seconds(1));
  send("*2\r\n$3\r\nGET\r\n$200\r\n" + std::string(200, 'k') + "\r\n", ann_.usual_request());
  pass();
  server_.say("$1\r\nx\r\n");
  pass(Millis(100));
  EXPECT_THAT(events(), ElementsAre("settled 1 unseen", "client 1 lost 1",
                                    "failed: the server sent a reply without a request"));
}

TEST_F(UpstreamTest, AReplyTooBigToShareIsAskedForAgainAndNotHandedOn) {
  connect();
  ann_.is_repeatable = true;
  server_.answers = {"$2000\r\n" + std::string(2000, 'x') + "\r\n", "$1\r\na\r\n"};
  send(kGet, ann_.request());
  send(kGet, ben_.request());
  pass();
  EXPECT_THAT(events(),
              ElementsAre("settled 1", "client 1 again 1 *2|$3|GET|$1|k|", "client 1 done 0",
                          "settled 1", "client 2 gets 1 $1|a|", "client 2 done 1"));
}

TEST_F(UpstreamTest, AReplyTooBigToShareOfAWriteIsHandedOn) {
  connect();
  server_.answers = {"$2000\r\n" + std::string(2000, 'x') + "\r\n"};
  Pending write = ann_.request();
  write.read_only = false;
  ann_.is_repeatable = true;
  send(kGet, std::move(write));
  pass();
  const Events seen = events();
  ASSERT_GE(seen.size(), 3u);
  EXPECT_THAT(seen[1], HasSubstr("gets 1 $2000|xxx"));
  EXPECT_EQ(seen.back(), "client 1 done 1");
}

TEST_F(UpstreamTest, ASilencedReplyIsHeardByNobody) {
  connect();
  server_.answers = {"$1\r\na\r\n"};
  Pending silent = ann_.request();
  silent.silent = true;
  send(kGet, std::move(silent));
  pass();
  EXPECT_THAT(events(), ElementsAre("settled 1", "client 1 done 1"));
}

TEST_F(UpstreamTest, AMessageToASubscriberIsNoReply) {
  connect(&ann_);
  ann_.is_subscriber = true;
  send("*1\r\n$4\r\nPING\r\n", ann_.request());
  pass();
  server_.say("*3\r\n$7\r\nmessage\r\n$1\r\nc\r\n$1\r\nm\r\n");
  pass();
  EXPECT_THAT(events(), ElementsAre("client 1 hears *3|$7|message|$1|c|$1|m|"));
  EXPECT_FALSE(connection_->owes_nothing());
  server_.say("*2\r\n$4\r\npong\r\n$0\r\n\r\n");
  pass();
  EXPECT_THAT(events(), testing::Contains("client 1 done 1"));
  EXPECT_TRUE(connection_->owes_nothing());
}

// It would have met another database.
TEST_F(UpstreamTest, ACommandBehindARefusedSelectMustBeRefusedToo) {
  connect();
  server_.answers = {"-NOPERM\r\n", "$1\r\na\r\n"};
  node_.post([this] { connection_->send_select(3, nullptr); });
  send(kGet, ann_.request());
  pass();
  EXPECT_THAT(events(),
              ElementsAre("settled 0", "settled 1 unseen", "client 1 lost 1",
                          "failed: the server refused SELECT but not the command after it"));
}

TEST_F(UpstreamTest, AServerThatDoesNotAnswerIsGivenUp) {
  connect();
  send(kGet, ann_.request());
  pass();
  node_.post([this] { connection_->fail_if_overdue(loop_.now(), std::chrono::seconds(10)); });
  pass();
  EXPECT_THAT(events(), IsEmpty());
  pass(std::chrono::seconds(10));
  node_.post([this] { connection_->fail_if_overdue(loop_.now(), std::chrono::seconds(10)); });
  pass();
  EXPECT_THAT(events(), ElementsAre("settled 1 unseen", "client 1 lost 1",
                                    "failed: the server did not answer for 10s"));
}

TEST_F(UpstreamTest, AGatheredWriteIsAnsweredToItsWorker) {
  connect();
  server_.answers = {":12\r\n"};
  Pending gathered;
  gathered.kind = PendingKind::kGathered;
  gathered.number = 1;
  send("*2\r\n$4\r\nINCR\r\n$1\r\nk\r\n", std::move(gathered));
  pass();
  EXPECT_THAT(events(), ElementsAre("settled 0", "gathered :12|"));
}

TEST_F(UpstreamTest, GarbageEndsTheConnection) {
  connect();
  send(kGet, ann_.request());
  pass();
  server_.say("hello\r\n");
  pass();
  EXPECT_THAT(events(), ElementsAre("settled 1 unseen", "client 1 lost 1",
                                    "failed: the server violated the protocol"));
}

}  // namespace
}  // namespace heatsink::simulation
