// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/tracker_requests.h"

#include <gtest/gtest.h>

#include <vector>

#include "heatsink/redis/tracker_part_for_test.h"

namespace heatsink::redis {
namespace {

const std::string kSelectRefused = "-ERR DB index is out of range\r\n";

TEST(TrackerRequests, AreAnsweredInTheOrderOfSending) {
  TrackerPartForTest it;
  it.requests.send(Question::kTtl, {"PTTL", "k"}, at(1), 7);
  it.requests.output().append(request({"HELLO"}));
  it.requests.expect({Question::kHello, at(2)});
  EXPECT_EQ(it.sent(), request({"PTTL", "k"}) + request({"HELLO"}));
  EXPECT_EQ(it.protocol.take_commands(), 2U);
  const Asked first = it.requests.take_oldest();
  EXPECT_EQ(first.question, Question::kTtl);
  EXPECT_EQ(first.sent_at, at(1));
  EXPECT_EQ(first.token, 7U);
  it.requests.put_back(first);
  EXPECT_EQ(it.requests.oldest().question, Question::kTtl);
  it.requests.take_oldest();
  EXPECT_EQ(it.requests.take_oldest().question, Question::kHello);
  EXPECT_TRUE(it.requests.empty());
}

TEST(TrackerRequests, ADatabaseIsSelectedWhenItChanges) {
  TrackerPartForTest it;
  it.requests.select(0, at(0));
  EXPECT_EQ(it.sent(), "") << "a connection begins in database 0";
  it.requests.select(3, at(0));
  it.requests.select(3, at(0));
  EXPECT_EQ(it.sent(), request({"SELECT", "3"}));
  it.requests.end();
  it.requests.begin();
  it.requests.select(3, at(0));
  EXPECT_EQ(it.sent(), request({"SELECT", "3"})) << "a new connection is in database 0 again";
}

TEST(TrackerRequests, ARefusedSelectIsSentAgainUnlessALaterOneIsUnderWay) {
  TrackerPartForTest it;
  it.requests.select(3, at(0));
  it.requests.take_oldest();
  it.requests.on_selected(value_of(kSelectRefused));
  EXPECT_EQ(it.requests.select_error(), "ERR DB index is out of range");
  it.sent();
  it.requests.select(3, at(0));
  EXPECT_EQ(it.sent(), request({"SELECT", "3"}));
  it.requests.select(4, at(0));
  it.requests.take_oldest();
  it.requests.on_selected(value_of(kSelectRefused));
  it.sent();
  it.requests.select(4, at(0));
  EXPECT_EQ(it.sent(), "") << "it is on its way";
  it.requests.on_selected(value_of("+OK\r\n"));
  EXPECT_EQ(it.requests.select_error(), "");
}

TEST(TrackerRequests, EachBarrierIsTakenOnce) {
  TrackerPartForTest it;
  it.requests.send(Question::kBarrier, {"EXISTS", "hb"}, at(0), 5);
  it.requests.send(Question::kHeartbeat, {"EXISTS", "hb"}, at(0));
  it.requests.send(Question::kBarrier, {"EXISTS", "hb"}, at(0), 6);
  std::vector<std::uint64_t> taken;
  const auto take = [&](std::uint64_t token) { taken.push_back(token); };
  it.requests.take_barriers(take);
  it.requests.take_barriers(take);
  EXPECT_EQ(taken, (std::vector<std::uint64_t>{5, 6}));
  EXPECT_EQ(it.requests.take_oldest().token, 0U) << "its reply will still come";
}

}  // namespace
}  // namespace heatsink::redis
