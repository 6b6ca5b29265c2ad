// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/command_pipeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heatsink/base/testing/times.h"

namespace heatsink::observe {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class CommandPipelineTest : public testing::Test {
 protected:
  void ask(std::string_view what) {
    pipeline_.ask({what}, at(0), [this](const Result<resp::Value>& reply, TimePoint) {
      heard_.push_back(reply ? reply->text : "none: " + reply.error().message);
    });
  }
  std::string sent() {
    std::string out(pipeline_.output().view());
    pipeline_.output().clear();
    return out;
  }
  std::string error_of(std::string_view bytes) {
    const Status status = pipeline_.received(bytes, at(1));
    return status ? "no error" : status.error().message;
  }

  CommandPipelineTest() { pipeline_.tick(at(0)); }

  CommandPipeline pipeline_{{.login = {.credentials = {"", "secret"}, .name = "me"}}};
  std::vector<std::string> heard_;
};

TEST_F(CommandPipelineTest, GreetsBeforeItAsks) {
  ask("ONE");
  pipeline_.connected(at(0));
  EXPECT_EQ(sent(),
            "*2\r\n$4\r\nAUTH\r\n$6\r\nsecret\r\n"
            "*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$2\r\nme\r\n");
  // A user without the right to CLIENT SETNAME may still ask.
  EXPECT_EQ(error_of("+OK\r\n-NOPERM no\r\n"), "no error");
  EXPECT_TRUE(pipeline_.is_up());
  EXPECT_EQ(sent(), "*1\r\n$3\r\nONE\r\n");
}

TEST_F(CommandPipelineTest, AnswersInOrderHoweverTheyAreCut) {
  pipeline_.connected(at(0));
  ask("ONE");
  ask("TWO");
  const std::string replies = "+OK\r\n+OK\r\n$3\r\none\r\n-ERR two\r\n";
  for (const char byte : replies) EXPECT_EQ(error_of(std::string(1, byte)), "no error");
  EXPECT_THAT(heard_, ElementsAre("one", "ERR two"));
}

TEST_F(CommandPipelineTest, AWrongPasswordIsToldWithoutIt) {
  pipeline_.connected(at(0));
  const std::string error = error_of("-WRONGPASS invalid username-password pair\r\n");
  EXPECT_THAT(error, HasSubstr("WRONGPASS"));
  EXPECT_THAT(error, HasSubstr("the user or password is wrong"));
  EXPECT_THAT(error, testing::Not(HasSubstr("secret")));
}

TEST_F(CommandPipelineTest, WhoDoesNotSpeakRespIsTold) {
  pipeline_.connected(at(0));
  EXPECT_THAT(error_of("HTTP/1.1 400 Bad Request\r\n"), HasSubstr("does not speak RESP"));
}

TEST_F(CommandPipelineTest, ARunawayReplyEndsIt) {
  pipeline_.connected(at(0));
  EXPECT_EQ(error_of("+OK\r\n+OK\r\n+unasked\r\n"), "the server sent a reply without a request");
}

TEST_F(CommandPipelineTest, AHangingServerIsGivenUp) {
  pipeline_.connected(at(0));
  ask("ONE");
  ASSERT_EQ(error_of("+OK\r\n+OK\r\n"), "no error");
  pipeline_.tick(at(5000));
  EXPECT_THAT(heard_, IsEmpty());
  pipeline_.tick(at(5002));
  EXPECT_THAT(heard_, ElementsAre("none: the server did not answer for 5s"));
  EXPECT_FALSE(pipeline_.wanted());
  pipeline_.tick(at(5003));
  EXPECT_TRUE(pipeline_.wanted());
}

TEST_F(CommandPipelineTest, WhoAcceptsAndSaysNothingIsGivenUp) {
  ask("ONE");
  pipeline_.connected(at(0));
  pipeline_.tick(at(5000));
  EXPECT_THAT(heard_, IsEmpty());
  pipeline_.tick(at(5001));
  EXPECT_THAT(heard_, ElementsAre("none: the server did not answer for 5s"));
  EXPECT_FALSE(pipeline_.wanted());
}

TEST_F(CommandPipelineTest, WhenTheConnectionIsLostAllHearOfIt) {
  pipeline_.connected(at(0));
  ask("ONE");
  ask("TWO");
  pipeline_.lost({ErrorCode::kUnavailable, "gone"}, at(1));
  EXPECT_THAT(heard_, ElementsAre("none: gone", "none: gone"));
  EXPECT_EQ(pipeline_.trouble(), "gone");
}

}  // namespace
}  // namespace heatsink::observe
