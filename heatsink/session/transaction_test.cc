// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/transaction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Asked = Transaction::Asked;

// One server, or a cluster, on a connection of the client's own that is always ready.
class TransactionTest : public ReliefTest, public Transaction::Client {
 protected:
  TransactionTest() {
    start();
    made.emplace(*parts, state, *this);
  }
  // As a session does it.
  std::string run(std::initializer_list<std::string_view> words) {
    Request& asked = request(words);
    answer.clear();
    if (state.in_multi_) {
      made->run(asked);
    } else if (asked.route == Route::kMulti) {
      made->multi(asked);
    } else if (asked.route == Route::kWatch) {
      made->watch(asked);
    } else {
      made->unwatch(asked);
    }
    return answer;
  }
  // The reply to the last request that this part has sent.
  void replied(Asked what, std::string_view wire) {
    resp::ReplyScanner scanner;
    scanner.feed(wire);
    made->take(pending(what), !wire.starts_with('-'), scanner, wire);
  }
  static Pending pending(Asked what) {
    Pending out;
    out.of = Transaction::of(what);
    return out;
  }
  std::vector<std::string> take() { return std::exchange(events, {}); }

  ClientState state;
  std::optional<Transaction> made;
  bool is_cluster = false;
  std::optional<Step> no_connection;
  std::string answer;
  std::vector<std::string> events;

 private:
  static std::string name(PartRequest of) {
    if (of == PartRequest()) return "";
    constexpr const char* kNames[] = {" watch", " multi", " queued", " exec"};
    return kNames[of.what];
  }
  Step send(const Request& request, PartRequest of) {
    events.push_back(std::string(request.args()[0]) + name(of));
    if (state.in_multi_ && request.route != Route::kExec) made->count_queued();
    return Step::kDone;
  }

  bool has_cluster() const override { return is_cluster; }
  bool is_drained() const override { return true; }
  bool is_closing() const override { return false; }
  bool has_state() const override { return state.watching_ || state.in_multi_; }
  Step stall_for(Awaited /*why*/) override { return Step::kStall; }
  Step reply(std::string_view wire) override {
    answer = wire.substr(0, wire.find('\r'));
    return Step::kDone;
  }
  Step reply_error(std::string_view text) override {
    answer = "-" + std::string(text);
    return Step::kDone;
  }
  std::optional<Step> departs(Request& /*request*/) override { return std::nullopt; }
  std::optional<Step> own_connection_for(Request& request) override {
    if (no_connection) request.waited().refusal = "ERR heatsink: no connection";
    return no_connection;
  }
  Step refuse_without_connection(Request& request) override {
    return reply_error(request.waited().refusal);
  }
  Step send_on_own(Request& request, PartRequest of) override { return send(request, of); }
  Forwarded forward_on_own(Request& request, PartRequest of) override {
    if (no_connection) return {reply_error("ERR heatsink: no connection"), false};
    return {send(request, of), true};
  }
  Step forward_whole(Request& request) override { return send(request, {}); }
  void send_for_part(std::string_view wire, PartRequest of) override {
    events.push_back(std::to_string(wire.size()) + " bytes" + name(of));
  }
  void tell_server(std::initializer_list<std::string_view> args) override {
    events.push_back("tells " + std::string(*args.begin()));
  }
  void note_keys(const Request& request, Pending& /*noted*/) override {
    const NameHash hash = ReliefTest::name(request.args().back());
    made->effects().keys.add({hash, in_db(hash, 0), true});
  }
  void keep_own_connection() override { events.emplace_back("keeps"); }
  bool note_library(const Request& /*request*/) override { return true; }
  void introduce_if_owed() override { events.emplace_back("introduces"); }
  void change_protocol(resp::Protocol protocol) override { state.protocol_ = protocol; }
  void queue_subscription(const Request& /*request*/, std::size_t index) override {
    events.push_back("subscribes at " + std::to_string(index));
  }
  void drop_queued_subscriptions() override { events.emplace_back("drops"); }
  void subscriptions_executed(const resp::Value* elements) override {
    events.push_back(elements == nullptr ? "aborted" : "executed");
  }
};

TEST_F(TransactionTest, TheServerRunsIt) {
  EXPECT_TRUE(made->is_at_rest());
  run({"MULTI"});
  EXPECT_TRUE(state.in_multi_ && made->is_on_server());
  run({"SET", "k", "v"});
  run({"EXEC"});
  EXPECT_THAT(take(), ElementsAre("MULTI multi", "SET", "EXEC exec", "introduces"));
  EXPECT_FALSE(state.in_multi_);
  replied(Asked::kExec, "*1\r\n+OK\r\n");
  EXPECT_THAT(take(), ElementsAre("introduces", "executed"));
  EXPECT_TRUE(made->is_at_rest());
}

TEST_F(TransactionTest, AMultiThatTheServerRefusesHasNotBegun) {
  run({"MULTI"});
  replied(Asked::kMulti, "-BUSY a script runs\r\n");
  EXPECT_FALSE(state.in_multi_);
  EXPECT_TRUE(made->is_at_rest());
}

TEST_F(TransactionTest, WithoutAConnectionItFailsAsOnABusyServer) {
  no_connection = Step::kDone;
  EXPECT_EQ(run({"MULTI"}), "+OK");
  EXPECT_TRUE(state.transaction_failed());
  EXPECT_EQ(run({"SET", "k", "v"}), "-ERR heatsink: no connection");
  EXPECT_THAT(run({"MULTI"}), HasSubstr("nested"));
  EXPECT_THAT(run({"EXEC"}), HasSubstr("EXECABORT"));
  EXPECT_FALSE(state.in_multi_ || state.transaction_failed());
  EXPECT_THAT(take(), IsEmpty());
}

TEST_F(TransactionTest, AfterARefusedWatchNothingIsExecuted) {
  no_connection = Step::kDone;
  run({"WATCH", "k"});
  EXPECT_FALSE(state.watching_);
  no_connection.reset();
  EXPECT_TRUE(made->is_at_rest());
  made.emplace(*parts, state, *this);  // as when another worker goes on with the client
  EXPECT_EQ(run({"MULTI"}), "+OK");
  EXPECT_THAT(run({"GET", "k"}), HasSubstr("WATCH before this MULTI was refused"));
  EXPECT_EQ(run({"DISCARD"}), "+OK");
  EXPECT_FALSE(state.watch_refused_);
}

TEST_F(TransactionTest, ExecDecidesAboutAQueuedHello) {
  run({"MULTI"});
  run({"HELLO", "3"});
  EXPECT_TRUE(made->needs_exec_reply());
  EXPECT_TRUE(state.no_local_reads_);
  run({"EXEC"});
  replied(Asked::kExec, "*1\r\n-NOPERM no\r\n");
  EXPECT_EQ(state.protocol_, resp::Protocol::kResp2);
  run({"MULTI"});
  run({"HELLO", "3"});
  run({"EXEC"});
  replied(Asked::kExec, "*1\r\n*0\r\n");
  EXPECT_EQ(state.protocol_, resp::Protocol::kResp3);
  EXPECT_FALSE(made->needs_exec_reply());
}

TEST_F(TransactionTest, ASubscriptionKnowsItsElement) {
  run({"MULTI"});
  run({"PING"});
  run({"SUBSCRIBE", "a"});
  run({"DISCARD"});
  EXPECT_THAT(take(), ElementsAre("MULTI multi", "PING", "SUBSCRIBE", "subscribes at 1", "keeps",
                                  "DISCARD", "drops", "introduces"));
}

TEST_F(TransactionTest, InFrontOfAClusterTheProxyQueuesIt) {
  is_cluster = true;
  EXPECT_EQ(run({"MULTI"}), "+OK");
  EXPECT_TRUE(made->is_queued_here());
  EXPECT_EQ(run({"SET", "k", "v"}), "+QUEUED");
  EXPECT_EQ(made->slot(), resp::key_slot("k"));
  EXPECT_THAT(take(), IsEmpty()) << "nothing is sent before EXEC";
  EXPECT_GT(made->bytes(), sizeof(Transaction));
  run({"EXEC"});
  EXPECT_THAT(take(), ElementsAre("15 bytes queued", "27 bytes queued", "EXEC exec"));
  EXPECT_TRUE(made->is_queued_here()) << "it may have to be sent again";
  replied(Asked::kExec, "*1\r\n+OK\r\n");
  EXPECT_TRUE(made->is_at_rest());
}

TEST_F(TransactionTest, ACommandThatIsNotQueuedEndsIt) {
  is_cluster = true;
  run({"MULTI"});
  run({"SET", "k", "v"});
  EXPECT_THAT(run({"SET", "other", "v"}), HasSubstr("CROSSSLOT"));
  EXPECT_THAT(run({"SUBSCRIBE", "a"}), HasSubstr("not supported inside MULTI"));
  EXPECT_THAT(run({"EXEC"}), HasSubstr("EXECABORT"));
  EXPECT_THAT(take(), IsEmpty());
  EXPECT_TRUE(made->is_at_rest());
}

TEST_F(TransactionTest, AnExecThatANodeRefusedIsSentAgain) {
  is_cluster = true;
  run({"MULTI"});
  run({"SET", "k", "v"});
  run({"EXEC"});
  Pending exec = pending(Asked::kExec);
  exec.unknown_keys = true;
  made->queued_refused("MOVED 1 127.0.0.1:2");
  EXPECT_EQ(made->decisive(exec, "EXECABORT Transaction discarded"), "MOVED 1 127.0.0.1:2");
  EXPECT_EQ(made->answer_to_moved(exec), "");
  EXPECT_THAT(made->wire_to_repeat(exec), HasSubstr("EXEC"));
  made->undo_sending(exec);
  EXPECT_TRUE(state.in_multi_ && made->effects().unknown_keys);
  take();
  run({"EXEC"});
  EXPECT_THAT(take(), ElementsAre("15 bytes queued", "27 bytes queued", "EXEC exec"));
}

TEST_F(TransactionTest, AWatchedSlotThatHasMovedAbortsIt) {
  is_cluster = true;
  run({"WATCH", "k"});
  EXPECT_TRUE(state.watching_);
  EXPECT_THAT(made->wire_to_repeat(pending(Asked::kWatch)), HasSubstr("WATCH"));
  EXPECT_EQ(made->wire_to_repeat(pending(Asked::kWatch)), "") << "once";
  run({"MULTI"});
  EXPECT_EQ(made->slot(), resp::key_slot("k"));
  run({"EXEC"});
  EXPECT_EQ(made->answer_to_moved(pending(Asked::kExec)), "*-1\r\n");
}

TEST_F(TransactionTest, ExecSaysWhyACommandWasRefused) {
  is_cluster = true;
  run({"MULTI"});
  run({"SET", "k", "v"});
  run({"EXEC"});
  made->queued_refused("NOPERM no");
  EXPECT_EQ(made->answer_to_refused(pending(Asked::kExec), "EXECABORT Transaction discarded"),
            "-EXECABORT Transaction discarded because of: NOPERM no\r\n");
}

TEST_F(TransactionTest, AnotherProcessGoesOn) {
  is_cluster = true;
  run({"MULTI"});
  run({"SET", "k", "v"});
  EXPECT_TRUE(made->needs_second_layout());
  EXPECT_FALSE(made->is_too_long_to_carry());
  const CarriedTransaction carried = made->carried();
  ClientState other;
  other.in_multi_ = true;
  Transaction there(*parts, other, *this);
  there.take_over(carried);
  there.take_queue(*carried.queue);
  EXPECT_TRUE(there.effects().unknown_keys && there.is_queued_here());
  EXPECT_THAT(there.queued_requests(), testing::SizeIs(1));
  there.reset();
  EXPECT_FALSE(other.in_multi_);
  EXPECT_TRUE(there.is_at_rest());
}

}  // namespace
}  // namespace heatsink::proxy
