// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/scattered_commands.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {
namespace {

using testing::HasSubstr;

// Reaches no server: what is refused, or waits, is so before a connection is looked for.
class ScatteredCommandsTest : public ReliefTest, public ScatteredCommands::Client {
 protected:
  void begin(std::initializer_list<const char*> rules = {}) {
    start(rules);
    commands.emplace(*parts, state, *this);
  }
  std::size_t parts_of(std::initializer_list<std::string_view> words, std::uint32_t db = 0) {
    return ScatteredCommands::parts_of_counter(request(words), db, *parts);
  }
  std::string answer_to_counter(std::initializer_list<std::string_view> words) {
    answer.clear();
    EXPECT_EQ(commands->run_counter(request(words), 4), Step::kDone);
    return answer;
  }

  ClientState state;
  std::optional<ScatteredCommands> commands;
  std::optional<Step> before;
  std::string answer;

 private:
  Requester& requester() override { return session_; }
  Upstreams& upstreams() override { throw std::logic_error("no server"); }
  Upstreams& proxys_upstreams() override { throw std::logic_error("no server"); }
  std::optional<Step> before_parts(Request& /*request*/) override { return before; }
  Upstream* shared_at(const Destination& /*to*/, Request& /*request*/, Step& step) override {
    step = Step::kStall;
    return nullptr;
  }
  bool is_owed_replies() const override { return false; }
  Step forward_whole(Request& /*request*/) override { return reply_error("whole"); }
  Step stall_for(Awaited /*why*/) override { return Step::kStall; }
  Step reply_error(std::string_view text) override {
    answer = text;
    return Step::kDone;
  }
  Step refuse_in_any_state(std::string&& text) override { return reply_error(text); }
  Joined expect_joined(const Request& /*request*/, Pending& /*noted*/) override {
    ADD_FAILURE() << "no part may be sent";
    return {};
  }
  void note_write(std::string_view /*key*/, NameHash /*name*/, Pending& /*pending*/) override {}
  void own_request_sent() override {}
  void parts_sent() override {}
  void parts_ended(Scatter& /*scatter*/) override {}
  bool closes_for_loss() override { return false; }
  void give_rest(ReplyQueue::Ticket /*ticket*/, std::string_view /*bytes*/) override {}

  PlayedClient session_{1};
};

TEST_F(ScatteredCommandsTest, KeysOfSeveralSlotsNeedSeveralNodes) {
  begin();
  EXPECT_TRUE(ScatteredCommands::needs(request({"MGET", "a", "b"})));
  EXPECT_FALSE(ScatteredCommands::needs(request({"MGET", "{t}a", "{t}b"})));
  EXPECT_TRUE(ScatteredCommands::needs(request({"MSET", "a", "1", "b", "2"})));
  EXPECT_FALSE(ScatteredCommands::needs(request({"MSET", "{t}a", "b", "{t}c", "d"})));
  EXPECT_TRUE(ScatteredCommands::needs(request({"MSET", "a", "1", "b"})));  // to refuse it
  EXPECT_TRUE(ScatteredCommands::needs(request({"DBSIZE"})));
  EXPECT_TRUE(ScatteredCommands::needs(request({"SCAN", "0"})));
}

TEST_F(ScatteredCommandsTest, OddPairsAreRefusedInTheServersWords) {
  begin();
  EXPECT_EQ(commands->run(request({"MSET", "a", "1", "b"})), Step::kDone);
  EXPECT_EQ(answer, "ERR wrong number of arguments for 'mset' command");
}

TEST_F(ScatteredCommandsTest, PairsOfSeveralSlotsAreRefusedIfTheOptionSaysSo) {
  options.cross_slot = policy::CrossSlot::kRefuse;
  begin();
  commands->run(request({"MSET", "a", "1", "b", "2"}));
  EXPECT_EQ(answer, "CROSSSLOT Keys in request don't hash to the same slot");
}

TEST_F(ScatteredCommandsTest, WaitsWithItsClient) {
  begin();
  before = Step::kStall;
  EXPECT_EQ(commands->run(request({"MGET", "a", "b"})), Step::kStall);
  before.reset();
  EXPECT_EQ(commands->run(request({"MGET", "a", "b"})), Step::kStall);  // no connection is ready
  EXPECT_EQ(commands->bytes(), sizeof(ScatteredCommands));
}

TEST_F(ScatteredCommandsTest, FindsTheCountersOfItsRules) {
  begin({"match=views:*,level=off,spread.parts=4"});
  EXPECT_EQ(parts_of({"INCR", "views:1"}), 4U);
  EXPECT_EQ(parts_of({"INCR", "other"}), 0U);
  EXPECT_EQ(parts_of({"DEL", "other", "views:1"}), 4U);
  EXPECT_EQ(parts_of({"INCR", "views:1"}, 3), 0U);  // the parts are in database 0
  EXPECT_EQ(parts_of({"INCR"}), 0U);
}

TEST_F(ScatteredCommandsTest, RefusesWhatPartsCannotDo) {
  begin();
  EXPECT_THAT(answer_to_counter({"APPEND", "c", "1"}), HasSubstr("append cannot be carried out"));
  EXPECT_THAT(answer_to_counter({"DEL", "c", "d"}), HasSubstr("del of several keys"));
  EXPECT_THAT(answer_to_counter({"SET", "c", "x"}), HasSubstr("must be set to an integer"));
  state.in_multi_ = true;
  EXPECT_THAT(answer_to_counter({"INCR", "c"}), HasSubstr("MULTI and WATCH"));
  state.in_multi_ = false;
  state.no_local_reads_ = true;
  EXPECT_THAT(answer_to_counter({"INCR", "c"}), HasSubstr("without CLIENT TRACKING"));
}

}  // namespace
}  // namespace heatsink::proxy
