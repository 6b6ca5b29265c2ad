// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/server_questions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "heatsink/redis/tracker_part_for_test.h"

namespace heatsink::redis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string info(const std::string& text) {
  return "$" + std::to_string(text.size()) + "\r\n" + text + "\r\n";
}
std::string swaps_told(int swaps) {
  return info("# Commandstats\r\ncmdstat_get:calls=9,usec=1\r\ncmdstat_swapdb:calls=" +
              std::to_string(swaps) + ",usec=1\r\n");
}

struct Questioned : TrackerPartForTest {
  bool swaps(const std::string& reply, bool after_code = false) {
    return questions.on_swaps({Question::kSwaps, at(0), after_code ? 1U : 0U}, value_of(reply));
  }
  ServerQuestions questions{options, requests, log};
};

TEST(ServerQuestions, SwapsAreAskedAHeartbeatBeforeTheirIntervalEnds) {
  Questioned it;
  it.options.heartbeat_interval = Millis(100);
  EXPECT_FALSE(it.questions.are_swaps_due(at(100'000))) << "swap_interval is 0: never";
  it.options.swap_interval = Millis(1000);
  it.questions.ask_swaps(at(0), false);
  EXPECT_EQ(it.sent(), request({"INFO", "commandstats"}));
  EXPECT_FALSE(it.questions.are_swaps_due(at(900)));
  EXPECT_TRUE(it.questions.are_swaps_due(at(901)));
}

TEST(ServerQuestions, AnExchangeEndsCopiesAndCodeDoesUnlessTheServerDenies) {
  Questioned it;
  EXPECT_FALSE(it.swaps(swaps_told(1))) << "the first answer is the start";
  EXPECT_TRUE(it.questions.counts_swaps());
  EXPECT_FALSE(it.swaps(swaps_told(1), true));
  EXPECT_TRUE(it.swaps(swaps_told(2)));
  EXPECT_FALSE(it.swaps("-NOPERM no\r\n"));
  EXPECT_TRUE(it.swaps("-NOPERM no\r\n", true));
  EXPECT_FALSE(it.questions.counts_swaps());
}

TEST(ServerQuestions, AServerEvictsByUseIfItsPolicySaysSoAndItHasALimit) {
  Questioned it;
  const auto evicts = [&](const std::string& reply) {
    it.questions.on_eviction(value_of(reply));
    return it.questions.evicts_by_use();
  };
  EXPECT_EQ(it.questions.evicts_by_use(), std::nullopt);
  const std::string lru = "maxmemory_policy:allkeys-lru\r\n";
  EXPECT_EQ(evicts(info("# Memory\r\nmaxmemory:5\r\n" + lru)), true);
  EXPECT_EQ(evicts(info("# Memory\r\nmaxmemory:0\r\n" + lru)), false);
  EXPECT_EQ(evicts(info("# Memory\r\nmaxmemory:5\r\nmaxmemory_policy:noeviction\r\n")), false);
  EXPECT_EQ(evicts("-NOPERM no\r\n"), true) << "the server does not say";
}

TEST(ServerQuestions, TheUseIsAskedEachIntervalAndLaterAfterARefusal) {
  Questioned it;
  it.questions.ask_use_if_due(at(0));
  EXPECT_EQ(it.sent(), "");
  it.options.use_interval = Millis(500);
  const std::string asks = request({"INFO", "stats"}) + request({"INFO", "cpu"});
  it.questions.ask_use_if_due(at(100));
  EXPECT_EQ(it.sent(), asks);
  it.questions.ask_use_if_due(at(599));
  EXPECT_EQ(it.sent(), "");
  it.questions.on_use(Question::kCommandsDone, value_of("-NOPERM no\r\n"), at(599));
  it.questions.on_use(Question::kCpuUsed, value_of("-NOPERM no\r\n"), at(599));
  EXPECT_THAT(it.log.take(), ElementsAre("use: NOPERM no"));
  it.questions.ask_use_if_due(at(60'598));
  EXPECT_EQ(it.sent(), "");
  it.questions.ask_use_if_due(at(60'599));
  EXPECT_EQ(it.sent(), asks);
}

TEST(ServerQuestions, OtherRightsThanBeforeAreTold) {
  Questioned it;
  it.options.credentials.user = "proxy";
  it.questions.ask_rights_if_due(at(100'000));
  EXPECT_EQ(it.sent(), "") << "rights_interval is 0: never";
  it.options.rights_interval = Millis(1000);
  it.questions.ask_rights(at(0));
  it.questions.ask_rights_if_due(at(999));
  EXPECT_EQ(it.sent(), request({"ACL", "GETUSER", "proxy"}));
  it.questions.ask_rights_if_due(at(1000));
  EXPECT_EQ(it.sent(), request({"ACL", "GETUSER", "proxy"}));
  const std::string some = "+some\r\n", fewer = "+fewer\r\n", refused = "-NOPERM no\r\n";
  EXPECT_FALSE(it.questions.shows_rights());
  it.questions.on_rights(value_of(some), some);
  it.questions.on_rights(value_of(some), some);
  EXPECT_THAT(it.log.take(), IsEmpty());
  EXPECT_TRUE(it.questions.shows_rights());
  it.questions.on_rights(value_of(fewer), fewer);
  it.questions.on_rights(value_of(refused), refused);
  EXPECT_THAT(it.log.take(), ElementsAre("rights changed", "rights changed"));
  EXPECT_FALSE(it.questions.shows_rights());
}

}  // namespace
}  // namespace heatsink::redis
