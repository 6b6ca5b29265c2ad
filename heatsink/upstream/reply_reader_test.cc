// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/reply_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <initializer_list>
#include <optional>
#include <string>
#include <utility>

#include "heatsink/upstream/upstream_parts_for_test.h"

namespace heatsink::proxy {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TimePoint kStart{std::chrono::hours(1)};
constexpr TimePoint kReadAt = kStart + Millis(3);
constexpr std::uint64_t kThreshold = 1000;
constexpr std::string_view kMoved = "-MOVED 1 10.0.0.2:6379\r\n";

class PlayedHost final : public UpstreamHost {
 public:
  explicit PlayedHost(PlayedEvents& events) : events_(events) {}

  char* scratch() override { return nullptr; }
  void flush_later(Upstream& /*upstream*/) override {}
  void ready(Upstream& /*upstream*/) override {}
  void failed(Upstream& /*upstream*/, const std::string& /*reason*/) override {}
  void settle(Pending& pending, TimePoint /*now*/, copies::Shown shown) override {
    if (std::exchange(pending.settled, true)) return;
    events_.push_back("settled " + std::to_string(pending.ticket) +
                      (shown == copies::Shown::kNothing ? " unseen" : ""));
  }
  void answered(const Pending& pending, const Answer& answer) override {
    if (pending.kind == PendingKind::kGathered)
      events_.push_back("gathered " + shown_bytes(answer.captured));
    last = answer;
  }
  bool reroute(Upstream& /*from*/, Pending& /*pending*/, std::string_view /*request*/,
               std::string_view /*error*/) override {
    return false;
  }
  void gathered_lost(std::uint32_t number, const std::string& /*reason*/) override {
    events_.push_back("gathered lost " + std::to_string(number));
  }
  void note_reply_size(const Pending& pending, std::uint64_t bytes) override {
    events_.push_back("size of " + std::to_string(pending.ticket) + ": " + std::to_string(bytes));
  }
  void writes_refused() override { events_.emplace_back("writes refused"); }

  Answer last;

 private:
  PlayedEvents& events_;
};

class ReplyReaderTest : public testing::Test, public ReplyReader::Connection {
 protected:
  ReplyReaderTest() { open("redis://127.0.0.1:1", nullptr); }
  ~ReplyReaderTest() override = default;

  void open(std::string_view url, ConnectionOwner* owner) {
    policy::ProxyOptions options;
    options.stream_threshold = Bytes{kThreshold};
    reader_.reset();
    state_.emplace(options, net::parse_upstream_url(url).value(), std::uint64_t{1});
    requests_.emplace(owner == nullptr ? SentRequests::Keeping::kUntilReply
                                       : SentRequests::Keeping::kUntilSent);
    reader_.emplace(ReplyReader::Parts{host_, *state_, *requests_, db_, login_, *this}, owner);
  }
  // The server has got it.
  void send(std::string_view request, Pending&& pending) {
    requests_->add(request, std::move(pending), kStart);
    requests_->sent(requests_->unsent());
  }
  // What happens when these bytes are read, one piece at a time.
  PlayedEvents read(std::initializer_list<std::string_view> pieces) {
    for (const std::string_view piece : pieces) reader_->read(piece, kReadAt, kStart);
    return std::exchange(events_, {});
  }

  void fail(const std::string& reason) override {
    events_.push_back("fails: " + reason);
    reader_->lose_all(kReadAt, "lost");
  }
  bool reroute(Pending& pending, std::string_view request, std::string_view error) override {
    events_.push_back("rerouted " + std::to_string(pending.ticket) + " " + shown_bytes(request) +
                      " after " + shown_bytes(error));
    return reroutes_;
  }
  void login_answered(bool ok, std::string_view reply) override {
    events_.push_back((ok ? "login " : "no login ") + shown_bytes(reply));
  }
  void raw_released() override { events_.emplace_back("raw"); }

  PlayedEvents events_;
  PlayedHost host_{events_};
  PlayedReceiver ann_{events_, 1}, ben_{events_, 2};
  ConnectionDb db_;
  UpstreamLogin login_{resp::Protocol::kResp2, UpstreamLogin::Kind::kOwn};
  std::optional<ServersState> state_;
  std::optional<SentRequests> requests_;
  std::optional<ReplyReader> reader_;
  bool reroutes_ = true;
};

TEST_F(ReplyReaderTest, RepliesComeInTheOrderOfTheRequests) {
  send("a", ann_.request());
  send("b", ben_.request());
  EXPECT_THAT(read({"$1\r\nx\r\n-ERR no\r\n"}),
              ElementsAre("settled 1", "client 1 gets 1 $1|x|", "client 1 done 1", "settled 1",
                          "client 2 gets 1 -ERR no|", "client 2 done 1 error"));
  EXPECT_TRUE(requests_->empty());
  EXPECT_TRUE(requests_->output().empty());
  EXPECT_EQ(host_.last.read_at, kReadAt);
  EXPECT_FALSE(host_.last.ok);
  EXPECT_TRUE(host_.last.from_shared);
}

TEST_F(ReplyReaderTest, AUsualReplyIsHandedOnInOneCall) {
  Pending usual = ann_.request();
  usual.is_usual = true;
  usual.expected = 100;
  send("a", std::move(usual));
  EXPECT_THAT(read({":3\r\n"}), ElementsAre("settled 1", "client 1 whole 1 :3|"));
  EXPECT_EQ(requests_->owed(), 0U);
  EXPECT_EQ(host_.last.bytes, 4U);
}

TEST_F(ReplyReaderTest, AReplyIsHandedOnAsItComesOnceItsHeaderIsKnown) {
  send("a", ann_.request());
  EXPECT_THAT(read({"$"}), IsEmpty());
  EXPECT_FALSE(reader_->is_between_replies());
  EXPECT_THAT(read({"4\r\nab"}),
              ElementsAre("settled 1", "client 1 gets 1 $", "client 1 gets 1 4|ab"));
  EXPECT_THAT(read({"cd\r\n"}), ElementsAre("client 1 gets 1 cd|", "client 1 done 1"));
  EXPECT_TRUE(reader_->is_between_replies());
}

TEST_F(ReplyReaderTest, AReplyWithoutARequestIsAFault) {
  EXPECT_THAT(read({"+OK\r\n"}), ElementsAre("fails: the server sent a reply without a request"));
  EXPECT_THAT(read({"+OK\r\n"}), IsEmpty()) << "nothing is read any more";
}

TEST_F(ReplyReaderTest, AReplyToWhatWasNotSentIsAFault) {
  requests_->add("abc", ann_.request(), kStart);
  requests_->sent(2);
  EXPECT_THAT(read({"+OK\r\n"}), ElementsAre("fails: the server sent a reply without a request",
                                             "settled 1 unseen", "client 1 lost 1: lost"));
}

TEST_F(ReplyReaderTest, GarbageIsAFault) {
  EXPECT_THAT(read({"hello\r\n"}), ElementsAre("fails: the server violated the protocol"));
}

TEST_F(ReplyReaderTest, OnlyTheReplyThatHasBegunMayHaveBeenSeen) {
  send("a", ann_.request());
  Pending gathered;
  gathered.kind = PendingKind::kGathered;
  gathered.number = 9;
  send("b", std::move(gathered));
  EXPECT_THAT(read({"$10\r\nhalf"}), ElementsAre("settled 1", "client 1 gets 1 $10|half"));
  reader_->lose_all(kReadAt, "it is gone");
  EXPECT_THAT(events_, ElementsAre("client 1 lost 1 begun: it is gone", "settled 0 unseen",
                                   "gathered lost 9"));
}

TEST_F(ReplyReaderTest, ConnectionsThatMoveLeaveTheirRequests) {
  send("a", ann_.request());
  reader_->release_all(kReadAt);
  EXPECT_THAT(events_, ElementsAre("settled 1 unseen"));
  EXPECT_TRUE(requests_->empty());
}

// ---- replies that are too big to share

TEST_F(ReplyReaderTest, ABigReplyIsAskedForAgain) {
  ann_.is_repeatable = true;
  send("GET big", ann_.request());
  EXPECT_THAT(read({"$2000\r\nxxx"}),
              ElementsAre("settled 1", "size of 1: 1001", "client 1 again 1 GET big"));
  EXPECT_TRUE(reader_->in_big_reply());
  EXPECT_THAT(read({std::string(1997, 'x') + "\r\n"}), ElementsAre("client 1 done 0"));
}

TEST_F(ReplyReaderTest, AWriteIsNotRepeated) {
  ann_.is_repeatable = true;
  Pending write = ann_.request();
  write.read_only = false;
  send("SET", std::move(write));
  EXPECT_THAT(read({"$2000\r\nxxx"}), ElementsAre("settled 1", "client 1 gets 1 $2000|xxx"));
}

TEST_F(ReplyReaderTest, ASlowClientsReadIsRepeated) {
  ann_.is_repeatable = ann_.is_congested = true;
  send("GET a", ann_.request());
  EXPECT_THAT(read({"$1\r\nx\r\n"}),
              ElementsAre("settled 1", "client 1 again 1 GET a", "client 1 done 0"));
}

TEST_F(ReplyReaderTest, ACollectionIsHeldBackUntilItsSizeIsKnown) {
  ann_.is_repeatable = true;
  send("a", ann_.request());
  EXPECT_THAT(read({"*2\r\n:1\r\n"}), ElementsAre("settled 1"));
  EXPECT_FALSE(reader_->is_between_replies());
  EXPECT_THAT(read({":2\r\n"}),
              ElementsAre("client 1 gets 1 *2|:1|", "client 1 gets 1 :2|", "client 1 done 1"));
  send("LRANGE", ann_.request());
  EXPECT_THAT(read({"*2\r\n$990\r\n" + std::string(900, 'x')}), ElementsAre("settled 2"));
  EXPECT_THAT(read({std::string(90, 'x') + "\r\n"}),
              ElementsAre("size of 2: 1001", "client 1 again 2 LRANGE"));
}

TEST_F(ReplyReaderTest, WhatIsHeldBackHasNotBeenSeenByTheClient) {
  ann_.is_repeatable = true;
  send("a", ann_.request());
  EXPECT_THAT(read({"*2\r\n:1\r\n"}), ElementsAre("settled 1"));
  reader_->lose_all(kReadAt, "gone");
  EXPECT_THAT(events_, ElementsAre("client 1 lost 1: gone"));
}

// ---- who gets a reply

TEST_F(ReplyReaderTest, ASilencedReplyIsDropped) {
  Pending silent = ann_.request();
  silent.silent = true;
  send("a", std::move(silent));
  EXPECT_THAT(read({"+OK\r\n"}), ElementsAre("settled 1", "client 1 done 1"));
}

TEST_F(ReplyReaderTest, ARewrittenReplyIsKeptForItsRequester) {
  Pending rewritten = ann_.request();
  rewritten.rewritten = true;
  send("a", std::move(rewritten));
  EXPECT_THAT(read({"+OK", "\r\n"}), ElementsAre("settled 1", "client 1 done 1 +OK|"));
}

TEST_F(ReplyReaderTest, ThePartOfASessionMayKeepTheReply) {
  open("redis://127.0.0.1:1", &ann_);
  ann_.keeps_bytes = ConnectionOwner::Keeps::kCopy;
  Pending of_part = ann_.request();
  of_part.of = PartRequest(SessionPart::kBlocked);
  send("a", std::move(of_part));
  EXPECT_THAT(read({"+OK\r\n"}),
              ElementsAre("settled 1", "client 1 gets +OK|", "client 1 done 1 +OK|"));
}

TEST_F(ReplyReaderTest, AGatheredWriteIsAnsweredToTheHost) {
  Pending gathered;
  gathered.kind = PendingKind::kGathered;
  send("INCR", std::move(gathered));
  EXPECT_THAT(read({":12\r\n"}), ElementsAre("settled 0", "gathered :12|"));
}

TEST_F(ReplyReaderTest, TheRepliesOfALoginGoToTheConnection) {
  requests_->add_login();
  requests_->add_login();
  EXPECT_THAT(
      read({"+OK\r\n", "-ERR unknown command\r\n"}),
      ElementsAre("settled 0", "login +OK|", "settled 0", "no login -ERR unknown command|"));
}

TEST_F(ReplyReaderTest, AReplicaRefusesWrites) {
  send("SET", ann_.request());
  EXPECT_THAT(read({"-READONLY You can't write\r\n"}), Contains("writes refused"));
}

// ---- the database

TEST_F(ReplyReaderTest, ASelectMakesItsDatabaseKnown) {
  Pending select;
  select.kind = PendingKind::kSelect;
  select.number = 3;
  send("SELECT 3", std::move(select));
  EXPECT_THAT(read({"+OK\r\n"}), ElementsAre("settled 0"));
  EXPECT_TRUE(db_.knows(3));
}

TEST_F(ReplyReaderTest, ACommandBehindARefusedSelectMustBeRefusedToo) {
  Pending select;
  select.kind = PendingKind::kSelect;
  send("SELECT 3", std::move(select));
  send("a", ann_.request());
  send("b", ann_.request());
  EXPECT_THAT(read({"-NOPERM\r\n", "-NOPERM\r\n"}), Contains("client 1 done 1 error"));
  EXPECT_THAT(read({"$1\r\nx\r\n"}),
              ElementsAre("fails: the server refused SELECT but not the command after it",
                          "settled 2 unseen", "client 1 lost 2: lost"));
}

// ---- messages

TEST_F(ReplyReaderTest, AMessageIsNoReply) {
  open("redis://127.0.0.1:1", &ann_);
  ann_.is_subscriber = true;
  send("PING", ann_.request());
  EXPECT_THAT(read({"*3\r\n$7\r\nmessage\r\n"}), ElementsAre("client 1 hears *3|$7|message|"));
  EXPECT_THAT(read({"$1\r\nc\r\n$1\r\nm\r\n"}), ElementsAre("client 1 hears $1|c|$1|m|"));
  EXPECT_EQ(requests_->size(), 1U);
  EXPECT_THAT(read({"*2\r\n$4\r\npong\r\n$0\r\n\r\n"}), Contains("client 1 done 1"));
}

TEST_F(ReplyReaderTest, APushIsAMessage) {
  open("redis://127.0.0.1:1", &ann_);
  EXPECT_THAT(read({">1\r\n"}), ElementsAre("client 1 hears >1|"));
  EXPECT_TRUE(reader_->in_message());
  EXPECT_THAT(read({":1\r\n"}), ElementsAre("client 1 hears :1|"));
  EXPECT_FALSE(reader_->in_message());
}

TEST_F(ReplyReaderTest, EachChannelIsConfirmed) {
  open("redis://127.0.0.1:1", &ann_);
  Pending subscribe = ann_.request();
  subscribe.kind = PendingKind::kSubscribe;
  subscribe.number = 2;
  send("SUBSCRIBE", std::move(subscribe));
  constexpr std::string_view kConfirmation = ">3\r\n$9\r\nsubscribe\r\n$1\r\nc\r\n:1\r\n";
  static_cast<void>(read({kConfirmation}));
  EXPECT_EQ(requests_->size(), 1U);
  EXPECT_THAT(read({kConfirmation}), Contains("client 1 done 1"));
}

TEST_F(ReplyReaderTest, BehindARawRequestAllBytesGoToTheOwner) {
  open("redis://127.0.0.1:1", &ann_);
  send("a", ann_.request());
  requests_->add_raw("SYNC");
  EXPECT_THAT(read({"+OK\r\n"}),
              ElementsAre("settled 1", "client 1 gets +OK|", "raw", "client 1 done 1"));
  EXPECT_EQ(requests_->unsent_bytes(), "SYNC");
  EXPECT_THAT(read({"any bytes"}), ElementsAre("client 1 hears any bytes"));
}

// ---- refusals of a cluster's nodes

TEST_F(ReplyReaderTest, ARefusedRequestGoesToAnotherNode) {
  open("redis+cluster://127.0.0.1:1", nullptr);
  Pending request = ann_.request();
  request.expected = 100;
  send("GET a", std::move(request));
  EXPECT_THAT(read({"-MOVED 1 ", "10.0.0.2:6379\r\n"}),
              ElementsAre("rerouted 1 GET a after -MOVED 1 10.0.0.2:6379|"));
  EXPECT_TRUE(requests_->empty());
  EXPECT_EQ(requests_->owed(), 0U);
}

TEST_F(ReplyReaderTest, AnErrorThatIsNoRefusalGoesToTheClient) {
  open("redis+cluster://127.0.0.1:1", nullptr);
  reroutes_ = false;
  send("GET a", ann_.request());
  EXPECT_THAT(read({"-ERR no\r\n"}),
              ElementsAre("rerouted 1 GET a after -ERR no|", "settled 1",
                          "client 1 gets 1 -ERR no|", "client 1 done 1 error"));
  send("GET a", ann_.request());
  EXPECT_THAT(read({kMoved}), Contains(HasSubstr("the key is on another node of the cluster")));
}

TEST_F(ReplyReaderTest, TheOwnerMayTakeARefusedRequestBack) {
  open("redis+cluster://127.0.0.1:1", &ann_);
  ann_.takes_errors = true;
  send("GET a", ann_.request());
  EXPECT_THAT(read({kMoved}), ElementsAre("client 1 takes back -MOVED 1 10.0.0.2:6379|"));
  EXPECT_TRUE(requests_->empty());
}

TEST_F(ReplyReaderTest, OneServerDoesNotRefuse) {
  send("GET a", ann_.request());
  EXPECT_FALSE(reader_->may_be_refused(ann_.request()));
  EXPECT_THAT(read({kMoved}), Contains("client 1 gets 1 -MOVED 1 10.0.0.2:6379|"));
}

TEST_F(ReplyReaderTest, SomeRequestsCannotBeSentToAnotherNode) {
  open("redis+cluster://127.0.0.1:1", &ann_);
  EXPECT_TRUE(reader_->may_be_refused(ann_.request()));
  Pending own = ann_.request();
  own.kind = PendingKind::kOwn;
  EXPECT_FALSE(reader_->may_be_refused(own));
  ann_.streams = true;
  EXPECT_FALSE(reader_->may_be_refused(ann_.request())) << "its rest follows";
  ann_.streams = false;
  login_.set_kind(UpstreamLogin::Kind::kNone);
  EXPECT_FALSE(reader_->may_be_refused(ann_.request())) << "it has another login";
}

}  // namespace
}  // namespace heatsink::proxy
