// SPDX-License-Identifier: Apache-2.0
// A whole session: which commands may exchange databases (SWAPDB) by code that they run, so that
// their replies wait for the server's count.
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <string_view>

#include "tests/simulation/session_fixture.h"

namespace heatsink::simulation {
namespace {

const std::string kSets = "return(redis.call('set','k',ARGV[1]))";
const std::string kSwaps = "return(redis.call('swapdb',0,1))";
const std::string kRunsAny = "return(redis.call(ARGV[1]))";
const std::string kAsks = "asks the count|", kFences = "fences all keys|", kNothing;

class SessionExchangeTest : public SessionTest {
 protected:
  SessionExchangeTest() {
    open_shared_connection();
    make_hot();
  }
  // What the last of these commands asks the keeper for.
  std::string asked_by(std::initializer_list<std::string> commands) {
    std::string out;
    for (const std::string& command : commands) {
      host_.barriers.clear();
      send({command});
    }
    for (const copies::BarrierRequest& each : host_.barriers)
      out += each.after_code ? kAsks : kFences;
    return out;
  }
};

TEST_F(SessionExchangeTest, ATextThatNamesReviewedCommandsOnlyAsksNothing) {
  EXPECT_EQ(asked_by({"EVAL " + kSets + " 0 v"}), kFences);
}

// The proxy notes the keys of queued commands as of the client's database.
TEST_F(SessionExchangeTest, ATransactionThatSelectsADatabaseTouchesUnknownKeys) {
  EXPECT_EQ(asked_by({"MULTI", "GET k", "EXEC"}), kNothing);
  EXPECT_EQ(asked_by({"MULTI", "SELECT 1", "GET k", "EXEC"}), kFences);
}

TEST_F(SessionExchangeTest, ATextThatNamesSwapDbAsks) {
  EXPECT_EQ(asked_by({"EVAL " + kSwaps + " 0"}), kAsks);
}

TEST_F(SessionExchangeTest, ATextWhoseCallersNameTheCommandAsks) {
  EXPECT_EQ(asked_by({"EVAL " + kRunsAny + " 0 swapdb"}), kAsks);
}

TEST_F(SessionExchangeTest, ANameOfAnUnknownTextAsks) {
  EXPECT_EQ(asked_by({"EVALSHA " + proxy::sha1_of(kSets) + " 0 v"}), kAsks);
}

TEST_F(SessionExchangeTest, ANameOfAHarmlessTextThatWasLoadedAsksNothing) {
  EXPECT_EQ(asked_by({"SCRIPT LOAD " + kSets, "EVALSHA " + proxy::sha1_of(kSets) + " 0 v"}),
            kFences);
}

TEST_F(SessionExchangeTest, ANameOfAHarmlessTextThatWasRunAsksNothing) {
  EXPECT_EQ(asked_by({"EVAL " + kSets + " 0 v", "EVALSHA " + proxy::sha1_of(kSets) + " 0 v"}),
            kFences);
}

TEST_F(SessionExchangeTest, ANameOfATextThatSwapsAsksHoweverItCame) {
  const std::string by_name = "EVALSHA " + proxy::sha1_of(kSwaps) + " 0";
  EXPECT_EQ(asked_by({"SCRIPT LOAD " + kSwaps, by_name}), kAsks);
  EXPECT_EQ(asked_by({"EVAL " + kSwaps + " 0", by_name}), kAsks);
}

TEST_F(SessionExchangeTest, AFunctionAsks) { EXPECT_EQ(asked_by({"FCALL f 0"}), kAsks); }

TEST_F(SessionExchangeTest, CodeThatOnlyReadsAsksNothing) {
  for (const std::string& command :
       {"EVAL_RO " + kSwaps + " 0", "EVALSHA_RO " + proxy::sha1_of(kSwaps) + " 0",
        std::string("FCALL_RO f 0")})
    EXPECT_EQ(asked_by({command}), kFences) << command;
}

TEST_F(SessionExchangeTest, ACommandWithoutKeysThatWasNotReviewedAsks) {
  EXPECT_EQ(asked_by({"OFTOMORROW 0 1"}), kAsks);
}

TEST_F(SessionExchangeTest, CommandsThatRunNoCodeAskNothing) {
  for (const char* const command : {"GET a", "SET a 1", "DEL a", "PING", "SCRIPT EXISTS x"})
    EXPECT_EQ(asked_by({command}), kNothing) << command;
}

TEST_F(SessionExchangeTest, SwapDbItselfEndsAllCopies) {
  EXPECT_EQ(asked_by({"SWAPDB 0 1"}), kFences);
  ASSERT_EQ(host_.barriers.size(), 1U);
  EXPECT_TRUE(host_.barriers[0].flush);
}

// When the server runs it.
TEST_F(SessionExchangeTest, ATransactionAsksBehindExec) {
  server_.replies = {{"MULTI", "+OK\r\n"}, {"EVAL", "+QUEUED\r\n"}, {"EXEC", "*1\r\n+OK\r\n"}};
  EXPECT_EQ(asked_by({"MULTI", "EVAL " + kSwaps + " 0"}), kNothing);
  EXPECT_EQ(asked_by({"EXEC"}), kAsks);
}

TEST_F(SessionExchangeTest, ATransactionThatIsDiscardedAsksNothing) {
  server_.replies = {{"MULTI", "+OK\r\n"}, {"EVAL", "+QUEUED\r\n"}};
  EXPECT_EQ(asked_by({"MULTI", "EVAL " + kSwaps + " 0", "DISCARD"}), kNothing);
}

// It refuses SWAPDB.
TEST_F(SessionExchangeTest, InFrontOfAClusterNothingAsks) {
  publish_all_slots(kSessionPort, 1);
  EXPECT_EQ(asked_by({"EVAL " + kSwaps + " 0"}), kFences);
  EXPECT_EQ(asked_by({"FCALL f 0"}), kFences);
}

}  // namespace
}  // namespace heatsink::simulation
