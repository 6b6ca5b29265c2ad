// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/near_client.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/session/testing/client_output_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A client in RESP3 whose copies the test fills. Events: "behind all: *k|" once the client is owed
// no reply in front of it, "now: ...", "7: ..." for behind the reply 7.
class NearClientTest : public ClientOutputFixture, public NearClient::Client {
 protected:
  NearClientTest() {
    start_output({"match=never:*,client-tracking=off"});
    table_.emplace(shared->kept_names, shared->clients_told_at_once);
    session_parts->near_table = &*table_;
    state.protocol_ = resp::Protocol::kResp3;
    near.emplace(*session_parts, state, traffic, *output, *this);
  }

  std::string says(std::initializer_list<std::string_view> words) {
    static_cast<void>(near->run(request(words)));
    const std::vector<std::string> said = take();
    return said.size() == 1 ? said.front() : "";
  }
  void track(std::initializer_list<std::string_view> more = {}) {
    std::vector<std::string_view> words{"CLIENT", "TRACKING", "ON"};
    words.insert(words.end(), more.begin(), more.end());
    ByteBuffer wire;
    resp::append_request(wire, words);
    resp::RequestParser parser;
    static_cast<void>(parser.parse(wire.view()));
    Request asked(parser.args(), wire.view());
    asked.command = resp::CommandTable::built_in().find(asked.args());
    static_cast<void>(near->run(asked));
    ASSERT_THAT(take(), ElementsAre("+OK|"));
  }
  void has_copy(std::string_view key) {
    heat(key);
    fill(key, "v");
  }
  // The command has been answered; by the copies of these keys.
  void done(std::initializer_list<std::string_view> words,
            std::initializer_list<std::string_view> from_copies = {}) {
    for (const std::string_view key : from_copies) {
      const cache::Copy* const copy = copies->find(hash(key), key, 0)->copy(cache::Read{0, {}});
      if (traffic.given != nullptr) traffic.given->push_back({name(key), copy->fill_sent_at});
    }
    near->done(request(words), false);
  }
  void changed(std::string_view key, std::uint64_t writer = 0) {
    table_->changed(name(key), writer);
  }
  std::vector<std::string> take() {
    if (output->has_unsent()) given.push_back("behind all: " + shown(flushed()));
    return std::exchange(given, {});
  }
  // The client is owed replies up to this ticket, or has got those before it.
  void owe_to(ReplyQueue::Ticket last) {
    while (output->last_owed() < last) output->expect();
  }
  void end_before(ReplyQueue::Ticket first) {
    while (output->owes_replies() && output->first_owed() < first)
      output->end(output->first_owed());
  }
  static std::string ends(std::string_view key) {
    ByteBuffer wire;
    append_invalidations(wire, {&key, 1});
    return shown(wire.view());
  }

  std::vector<std::string> given;
  int ticks_due = 0;
  std::optional<NearTable> table_;
  std::optional<NearClient> near;

 private:
  static std::string shown(std::string_view wire) {
    std::string out;
    for (const char c : wire) out += c == '\r' ? "" : (c == '\n' ? "|" : std::string(1, c));
    return out;
  }
  std::uint64_t id() const override { return 5; }
  TimePoint clock() const override { return now; }
  Step reply(std::string_view wire) override {
    given.push_back(shown(wire));
    return Step::kDone;
  }
  Step reply_error(std::string_view text) override {
    given.push_back("-" + std::string(text));
    return Step::kDone;
  }
  void give_push(std::string_view push, ReplyQueue::Ticket behind) override {
    given.push_back((behind == ReplyQueue::kNone ? "now: " : std::to_string(behind) + ": ") +
                    shown(push));
  }
  void give_behind_next(std::string_view push) override {
    given.push_back("behind next: " + shown(push));
  }
  void repeat_pushes_later() override { ++ticks_due; }
};

TEST_F(NearClientTest, ItAnswersTheCommandsOfTrackingAsTheServer) {
  EXPECT_EQ(says({"CLIENT", "TRACKING", "ON", "OPTIN", "OPTOUT"}),
            "-ERR You can't specify both OPTIN mode and OPTOUT mode");
  EXPECT_EQ(says({"CLIENT", "TRACKING", "ON", "WHAT"}), "-ERR syntax error");
  EXPECT_FALSE(state.near_mode_.is_on);
  track({"OPTIN", "NOLOOP"});
  EXPECT_EQ(says({"CLIENT", "GETREDIR"}), ":0|");
  EXPECT_THAT(says({"CLIENT", "TRACKING", "ON", "OPTOUT"}), HasSubstr("can't switch OPTIN/OPTOUT"));
  EXPECT_THAT(says({"CLIENT", "TRACKING", "ON", "BCAST"}), HasSubstr("can't switch BCAST"));
  EXPECT_THAT(says({"CLIENT", "TRACKING", "ON", "REDIRECT", "1"}),
              HasSubstr("CLIENT TRACKING OFF before"));
  EXPECT_THAT(says({"CLIENT", "CACHING", "NO"}), HasSubstr("NO is only valid"));
  EXPECT_EQ(says({"CLIENT", "CACHING", "PERHAPS"}), "-ERR syntax error");
  EXPECT_EQ(says({"CLIENT", "CACHING", "YES"}), "+OK|");
  EXPECT_EQ(
      says({"CLIENT", "TRACKINGINFO"}),
      "%3|$5|flags|~4|$2|on|$5|optin|$11|caching-yes|$6|noloop|$8|redirect|:0|$8|prefixes|*0|");
  EXPECT_EQ(near->run(request({"CLIENT", "INFO"})), std::nullopt);
  EXPECT_EQ(says({"CLIENT", "TRACKING", "OFF"}), "+OK|");
  EXPECT_FALSE(state.near_mode_.is_on);
  EXPECT_EQ(traffic.given, nullptr);
}

TEST_F(NearClientTest, TheServerTracksInRESP2AndForPrefixes) {
  const auto is_able = [this](std::initializer_list<std::string_view> words) {
    return NearClient::is_able(request(words), state.protocol_);
  };
  EXPECT_TRUE(is_able({"CLIENT", "TRACKING", "ON", "optin"}));
  EXPECT_FALSE(is_able({"CLIENT", "TRACKING", "ON", "bcast", "prefix", "a"}));
  EXPECT_FALSE(is_able({"CLIENT", "TRACKING", "ON", "redirect", "1"}));
  EXPECT_FALSE(is_able({"CLIENT", "TRACKING", "OFF"}));
  state.protocol_ = resp::Protocol::kResp2;
  EXPECT_FALSE(is_able({"CLIENT", "TRACKING", "ON"}));
}

TEST_F(NearClientTest, WhatACopyHasAnsweredIsKeptUntilItChanges) {
  track();
  has_copy("k");
  done({"GET", "k"}, {"k"});
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_FALSE(near->is_at_rest());
  changed("k");
  EXPECT_THAT(take(), ElementsAre("now: " + ends("k")));
  EXPECT_TRUE(near->is_at_rest());
  changed("k");
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(NearClientTest, AnythingElseIsEndedBehindItsReply) {
  track();
  has_copy("k");
  done({"GET", "cold"});
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("cold")));
  done({"SET", "cold", "v"});
  done({"PING"});
  EXPECT_THAT(take(), IsEmpty());
  done({"MGET", "k", "cold"}, {"k"});
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("cold"))) << "k is kept";
  near->read_unknown();
  EXPECT_THAT(take(), ElementsAre("behind all: >2|$10|invalidate|_|"));
}

TEST_F(NearClientTest, WhileMemoryIsShortNothingIsKept) {
  track();
  has_copy("k");
  const auto half = static_cast<std::int64_t>(shared->memory.max_bytes() / 2);
  shared->memory.change(half + 1);
  done({"GET", "k"}, {"k"});
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("k")));
  shared->memory.change(-half - 1);
  done({"GET", "k"}, {"k"});
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(NearClientTest, WhatARuleExceptsIsEndedAlthoughACopyHasAnsweredIt) {
  track();
  has_copy("never:1");
  has_copy("k");
  done({"GET", "never:1"}, {"never:1"});
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("never:1")));
  EXPECT_EQ(table_->names(), 0U);
  done({"MGET", "k", "never:1"}, {"k", "never:1"});
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("never:1")));
  EXPECT_EQ(table_->names(), 1U);
}

// The copy was served, and has ended or was replaced before the client is registered.
TEST_F(NearClientTest, ACopyThatIsNotValidAnyMoreIsNotKept) {
  track();
  has_copy("k");
  traffic.given->push_back({name("k"), copies->find(hash("k"), "k", 0)->copy({})->fill_sent_at});
  pass(Millis(1));
  fill("k", "w");
  near->done(request({"GET", "k"}), false);
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("k"))) << "another fill";
  traffic.given->push_back({name("k"), copies->find(hash("k"), "k", 0)->copy({})->fill_sent_at});
  shared->table.drop_name("k", name("k"));
  near->done(request({"GET", "k"}), false);
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("k"))) << "invalidated";
  EXPECT_FALSE(shared->kept_names.any());
}

// The worker did not run for long. In a cluster the copy's slot may be proven no more.
TEST_F(NearClientTest, ACopyThatWasValidWhenItsRequestCameIsNotKept) {
  track();
  has_copy("k");
  traffic.given->push_back({name("k"), copies->find(hash("k"), "k", 0)->copy({})->fill_sent_at});
  Request& asked = request({"GET", "k"});
  pass(std::chrono::seconds(10));
  near->done(asked, false);
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("k")));
}

TEST_F(NearClientTest, APushDoesNotOvertakeTheReplyThatItEnds) {
  track();
  has_copy("k");
  owe_to(3);  // a BLPOP, say
  done({"GET", "k"}, {"k"});
  changed("k");
  EXPECT_THAT(take(), ElementsAre("now: " + ends("k"), "3: " + ends("k")))
      << "it may have an earlier value, and it will get this one";
  done({"GET", "k"}, {"k"});
  end_before(4);
  changed("k");
  EXPECT_THAT(take(), ElementsAre("now: " + ends("k"))) << "it has the reply by now";
}

// The reply of such a read is owed still: what the client has until then must not be forgotten.
TEST_F(NearClientTest, AnEarlierValueIsKeptUntilTheReplyHasCome) {
  state.stores_in_order_ = true;  // no push comes twice
  track();
  has_copy("k");
  done({"GET", "k"}, {"k"});
  owe_to(1);
  done({"GET", "k"});
  EXPECT_THAT(take(), IsEmpty());
  changed("k");
  EXPECT_THAT(take(), ElementsAre("now: " + ends("k")));
  end_before(2);
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("k")));
  done({"GET", "k"}, {"k"});
  done({"GET", "k"});
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("k")));
  EXPECT_TRUE(near->is_at_rest()) << "the push is behind a reply that it has";
}

TEST_F(NearClientTest, OptInAndOptOut) {
  track({"OPTIN"});
  has_copy("k");
  done({"GET", "k"}, {"k"});
  done({"GET", "cold"});
  EXPECT_THAT(take(), IsEmpty()) << "it keeps nothing unasked";
  EXPECT_TRUE(near->is_at_rest());
  says({"CLIENT", "CACHING", "YES"});
  done({"CLIENT", "CACHING", "YES"});
  done({"GET", "k"}, {"k"});
  EXPECT_FALSE(near->is_at_rest());
  done({"GET", "cold"});
  EXPECT_THAT(take(), IsEmpty()) << "the announcement was for one command";
  near->stop();
  track({"OPTOUT"});
  says({"CLIENT", "CACHING", "NO"});
  done({"CLIENT", "CACHING", "NO"});
  done({"GET", "cold"});
  EXPECT_THAT(take(), IsEmpty());
  done({"GET", "cold"});
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("cold")));
}

TEST_F(NearClientTest, WhatATransactionHasReadEndsBehindIt) {
  track();
  done({"MULTI"});
  state.in_multi_ = true;
  done({"GET", "a"});
  done({"SET", "b", "v"});
  done({"MGET", "c", "d"});
  EXPECT_THAT(take(), IsEmpty()) << "these are not replies with values";
  done({"EXEC"});
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("a") + ends("c") + ends("d")));
  done({"GET", "a"});
  done({"DISCARD"});
  EXPECT_THAT(take(), IsEmpty());
  done({"GET", std::string(20'000, 'x')});
  done({"EXEC"});
  EXPECT_THAT(take(), ElementsAre("behind all: >2|$10|invalidate|_|")) << "too many names";
  state.in_multi_ = false;
  done({"PING"});
  done({"EXEC"});
  EXPECT_THAT(take(), IsEmpty());
}

// As when a node of a cluster refuses it: what stood behind its reply has gone with its ticket.
TEST_F(NearClientTest, AnExecThatIsSentAgainEndsItsNamesAgain) {
  track();
  state.in_multi_ = true;
  done({"MULTI"});
  done({"GET", "a"});
  for (int i = 0; i < 2; ++i) {
    done({"EXEC"});
    EXPECT_THAT(take(), ElementsAre("behind all: " + ends("a")));
  }
  done({"MULTI"});
  done({"EXEC"});
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(NearClientTest, ItsOwnWritesEndBehindTheirReplies) {
  track();
  has_copy("k");
  done({"GET", "k"}, {"k"});
  changed("k", 5);
  EXPECT_THAT(take(), ElementsAre("behind next: " + ends("k")));
  near->stop();
  track({"NOLOOP"});
  done({"GET", "k"}, {"k"});
  changed("k", 5);
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_TRUE(near->is_at_rest()) << "as at a server, it is not told of the next change either";
}

TEST_F(NearClientTest, InRESP2ItCannotBeTold) {
  track();
  has_copy("k");
  done({"GET", "k"}, {"k"});
  state.protocol_ = resp::Protocol::kResp2;
  changed("k");
  done({"GET", "cold"});
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(NearClientTest, ASilentReadGivesNothingToKeep) {
  track();
  near->done(request({"GET", "cold"}), true);
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(NearClientTest, WhatIsOwedBetweenMessagesIsGivenLater) {
  near->owe("x");
  EXPECT_FALSE(near->is_at_rest());
  near->give_owed();
  near->give_owed();
  EXPECT_THAT(take(), ElementsAre("now: x"));
}

// redis-rs stores a reply after it has handled the push behind it.
TEST_F(NearClientTest, WhatEndsBehindItsReplyEndsOnceMore) {
  track();
  owe_to(3);
  done({"GET", "cold"});
  EXPECT_EQ(ticks_due, 1);
  EXPECT_FALSE(near->is_at_rest()) << "another worker would not know of it";
  near->repeat_pushes();
  end_before(4);
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("cold")));
  near->repeat_pushes();
  EXPECT_THAT(take(), IsEmpty()) << "the reply has been out for less than a tick";
  near->repeat_pushes();
  EXPECT_THAT(take(), ElementsAre("now: " + ends("cold")));
  EXPECT_EQ(ticks_due, 3);
  EXPECT_TRUE(near->is_at_rest());
  done({"GET", "cold"});
  take();
  near->end_all_now();
  EXPECT_THAT(take(), ElementsAre("behind all: " + ends("cold"))) << "its connection ends";
  state.stores_in_order_ = true;
  done({"GET", "cold"});
  EXPECT_TRUE(near->is_at_rest());
  for (const char* const library : {"redis-py", "redis-py(django-redis_v5)", "jedis", "rueidis"})
    EXPECT_TRUE(NearClient::stores_in_order(library)) << library;
  for (const char* const library : {"redis-rs", "", "GlidePy", "my-redis-py"})
    EXPECT_FALSE(NearClient::stores_in_order(library)) << library;
}

}  // namespace
}  // namespace heatsink::proxy
