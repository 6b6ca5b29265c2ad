// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/redis/request_for_test.h"
#include "heatsink/resp/writer.h"

namespace heatsink::redis {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class PipelineTest : public testing::Test {
 protected:
  void ask(std::initializer_list<std::string_view> args, int ms = 0) {
    pipeline_.ask(
        {args.begin(), args.size()},
        [this](const Result<resp::Value>& reply) {
          told_.push_back(reply.ok() ? reply->text : reply.error().message);
        },
        at(ms));
  }
  std::string output() {
    std::string all(pipeline_.output().view());
    pipeline_.output().clear();
    return all;
  }
  void come_up() {
    pipeline_.connected(at(0));
    output();
    ASSERT_TRUE(pipeline_.received("%0\r\n", at(0)).ok());
    ASSERT_TRUE(pipeline_.up());
  }

  Pipeline pipeline_{{.response_timeout = Millis(100)}};
  std::vector<std::string> told_;
};

TEST_F(PipelineTest, RepliesGoToThoseWhoAskedInTheirOrder) {
  come_up();
  ask({"GET", "a"});
  ask({"GET", "b"});
  EXPECT_EQ(output(), request({"GET", "a"}) + request({"GET", "b"}));
  EXPECT_TRUE(pipeline_.received("$1\r\n1\r", at(1)).ok());
  EXPECT_THAT(told_, IsEmpty());
  EXPECT_TRUE(pipeline_.received("\n-WRONGTYPE no\r\n", at(1)).ok());
  EXPECT_THAT(told_, ElementsAre("1", "WRONGTYPE no"));
}

TEST_F(PipelineTest, WhoAsksBeforeItIsUpWaits) {
  ask({"GET", "a"});
  EXPECT_EQ(output(), "");
  pipeline_.connected(at(0));
  EXPECT_EQ(output(), request({"HELLO", "3", "SETNAME", "heatsink-client"}));
  EXPECT_TRUE(pipeline_.received("%0\r\n", at(0)).ok());
  EXPECT_EQ(output(), request({"GET", "a"}));
}

TEST_F(PipelineTest, ItLogsInAndChoosesTheDatabaseFirst) {
  Pipeline pipeline({.credentials = {"me", "secret"}, .db = 3});
  pipeline.connected(at(0));
  EXPECT_EQ(pipeline.output().view(),
            request({"HELLO", "3", "AUTH", "me", "secret", "SETNAME", "heatsink-client"}) +
                request({"SELECT", "3"}));
  EXPECT_TRUE(pipeline.received("%0\r\n", at(0)).ok());
  EXPECT_FALSE(pipeline.up());
  EXPECT_TRUE(pipeline.received("+OK\r\n", at(0)).ok());
  EXPECT_TRUE(pipeline.up());
}

TEST_F(PipelineTest, CountsAllItsCommandsOrThoseThatNobodyHasAskedFor) {
  for (const bool counts_requests : {true, false}) {
    Pipeline pipeline({.db = 3, .counts_requests = counts_requests});
    pipeline.connected(at(0));
    EXPECT_EQ(pipeline.take_commands(), 2U);
    EXPECT_TRUE(pipeline.received("%0\r\n+OK\r\n", at(0)).ok());
    const std::array<std::string_view, 2> get = {"GET", "a"};
    pipeline.ask(
        get, [](const Result<resp::Value>&) {}, at(0));
    EXPECT_EQ(pipeline.take_commands(), counts_requests ? 1U : 0U);
  }
}

TEST_F(PipelineTest, ARefusedLoginEndsTheConnection) {
  pipeline_.connected(at(0));
  const Status status = pipeline_.received("-WRONGPASS invalid password\r\n", at(0));
  ASSERT_FALSE(status.ok());
  EXPECT_THAT(status.error().message, HasSubstr("WRONGPASS"));
}

TEST_F(PipelineTest, ALostConnectionIsToldToAllAndToThoseWhoComeMeanwhile) {
  come_up();
  ask({"SET", "a", "1"});
  pipeline_.disconnected("it is gone");
  ask({"GET", "a"});
  EXPECT_THAT(told_,
              ElementsAre("it is gone; it is unknown whether the server executed the request",
                          "the server cannot be reached: it is gone"));
  told_.clear();
  come_up();
  ask({"GET", "a"});
  EXPECT_TRUE(pipeline_.received("$1\r\n2\r\n", at(1)).ok());
  EXPECT_THAT(told_, ElementsAre("2"));
}

TEST_F(PipelineTest, AnAttemptThatFailsEndsTheWait) {
  ask({"GET", "a"});
  pipeline_.disconnected("refused");
  EXPECT_THAT(told_, ElementsAre("the server cannot be reached: refused"));
}

TEST_F(PipelineTest, ASilentServerIsGivenUp) {
  come_up();
  ask({"GET", "a"}, 10);
  EXPECT_TRUE(pipeline_.tick(at(110)).ok());
  const Status status = pipeline_.tick(at(111));
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().message, "the server did not answer for 100ms");
}

TEST_F(PipelineTest, WhatNobodyAskedForBreaksTheProtocolAndPushesDoNot) {
  come_up();
  EXPECT_TRUE(pipeline_.received(">1\r\n$4\r\nnews\r\n", at(1)).ok());
  EXPECT_FALSE(pipeline_.received("+OK\r\n", at(1)).ok());
}

}  // namespace
}  // namespace heatsink::redis
