// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/function_caller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/resp/writer.h"

namespace heatsink::distributed {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr TimePoint kCalledAt{std::chrono::hours(1)};
constexpr std::string_view kNotFound = "-ERR Function not found\r\n";

const ServerFunction& counter() {
  static const FunctionLibrary library("counter", "",
                                       {{"add", "return redis.call('INCR', KEYS[1])"}});
  return library.function("add");
}

std::string request(std::initializer_list<std::string_view> args) {
  ByteBuffer out;
  resp::append_request(out, args);
  return std::string(out.view());
}

const std::string& fcall() {
  static const std::string bytes = request({"FCALL", counter().name, "1", "k", "7"});
  return bytes;
}
const std::string& load() {
  static const std::string bytes = request({"FUNCTION", "LOAD", counter().library->source()});
  return bytes;
}
const std::string& evalsha() {
  static const std::string bytes = request({"EVALSHA", counter().sha1, "1", "k", "7"});
  return bytes;
}
const std::string& eval() {
  static const std::string bytes = request({"EVAL", counter().script, "1", "k", "7"});
  return bytes;
}

class FunctionCallerTest : public testing::Test {
 protected:
  FunctionCallerTest() {
    pipeline_.connected(kCalledAt);
    said();
    answer("%0\r\n");
  }
  void call(bool is_asking = false) {
    caller_.call(
        std::make_shared<const FunctionCall>(FunctionCall{&counter(), {"k"}, {"7"}}), is_asking,
        [this](const Result<resp::Value>& reply) {
          if (!reply.ok()) told_.push_back("lost: " + reply.error().message);
          if (reply.ok())
            told_.push_back(reply->is_error() ? reply->text : std::to_string(reply->integer));
        },
        kCalledAt);
  }
  void answer(std::string_view bytes) { ASSERT_TRUE(pipeline_.received(bytes, kCalledAt).ok()); }
  std::string said() {
    std::string all(pipeline_.output().view());
    pipeline_.output().clear();
    return all;
  }

  redis::Pipeline pipeline_{{}};
  FunctionCaller caller_{pipeline_};
  std::vector<std::string> told_;
};

TEST_F(FunctionCallerTest, AFunctionThatIsThereIsCalledAndNothingElse) {
  call();
  EXPECT_EQ(said(), fcall());
  answer(":5\r\n");
  EXPECT_THAT(told_, ElementsAre("5"));
  EXPECT_EQ(said(), "");
  EXPECT_EQ(caller_.loads(), 0U);
}

TEST_F(FunctionCallerTest, AMissingOneIsLoadedAndCalledWithoutWaitingBetween) {
  call();
  said();
  answer(kNotFound);
  EXPECT_EQ(said(), load() + fcall());
  answer("$7\r\ncounter\r\n:1\r\n");
  EXPECT_THAT(told_, ElementsAre("1"));
}

TEST_F(FunctionCallerTest, OfManyUnderWayOnlyOneLoads) {
  call();
  call();
  said();
  answer(kNotFound);
  answer(kNotFound);
  EXPECT_EQ(said(), load() + fcall() + fcall());
  answer("$7\r\ncounter\r\n:1\r\n:2\r\n");
  EXPECT_THAT(told_, ElementsAre("1", "2"));
  EXPECT_EQ(caller_.loads(), 1U);
}

TEST_F(FunctionCallerTest, WhatAnotherProcessLoadedFirstIsNoProblem) {
  call();
  said();
  answer(kNotFound);
  answer("-ERR Library 'counter' already exists\r\n:1\r\n");
  EXPECT_THAT(told_, ElementsAre("1"));
}

TEST_F(FunctionCallerTest, AfterAFlushItIsLoadedAnew) {
  for (int i = 0; i < 2; ++i) {
    call();
    answer(kNotFound);
    answer("$7\r\ncounter\r\n:1\r\n");
  }
  EXPECT_THAT(told_, ElementsAre("1", "1"));
  EXPECT_EQ(caller_.loads(), 2U);
}

TEST_F(FunctionCallerTest, GivesUpWhereFunctionsAreFlushedAllTheTime) {
  call();
  for (int i = 1; i < FunctionCaller::kTriesMax; ++i) {
    answer(kNotFound);
    answer("$7\r\ncounter\r\n");
  }
  EXPECT_THAT(told_, IsEmpty());
  answer(kNotFound);
  EXPECT_THAT(told_, ElementsAre("ERR Function not found"));
}

TEST_F(FunctionCallerTest, TellsWhyTheLibraryWasNotTaken) {
  call();
  for (int i = 1; i < FunctionCaller::kTriesMax; ++i) {
    answer(kNotFound);
    answer("-READONLY You can't write against a read only replica.\r\n");
  }
  answer(kNotFound);
  EXPECT_THAT(told_, ElementsAre(HasSubstr("READONLY")));
}

TEST_F(FunctionCallerTest, AServerWithoutFunctionsIsAskedByScripts) {
  call();
  said();
  answer("-ERR unknown command 'FCALL', with args beginning with: 'x'\r\n");
  EXPECT_EQ(said(), evalsha());
  answer("-NOSCRIPT No matching script. Please use EVAL.\r\n");
  EXPECT_EQ(said(), eval());
  answer(":1\r\n");
  call();
  EXPECT_EQ(said(), evalsha());
  answer(":2\r\n");
  EXPECT_THAT(told_, ElementsAre("1", "2"));
}

TEST_F(FunctionCallerTest, AUserWhoMayNotLoadGoesByScripts) {
  call();
  said();
  answer(kNotFound);
  EXPECT_EQ(said(), load() + fcall());
  answer("-NOPERM this user has no permissions to run the 'function|load' command\r\n");
  answer(kNotFound);
  EXPECT_EQ(said(), evalsha());
  answer("-NOSCRIPT\r\n");
  EXPECT_EQ(said(), eval());
  answer(":1\r\n");
  EXPECT_THAT(told_, ElementsAre("1"));
}

TEST_F(FunctionCallerTest, AUserWhoMayNeitherIsTold) {
  call();
  answer("-NOPERM no fcall\r\n");
  answer("-NOPERM no evalsha\r\n");
  EXPECT_THAT(told_, ElementsAre("NOPERM no evalsha"));
}

TEST_F(FunctionCallerTest, ASlotUnderWayIsAskedForEachTimeAnew) {
  call(true);
  EXPECT_EQ(said(), request({"ASKING"}) + fcall());
  answer("+OK\r\n");
  answer(kNotFound);
  EXPECT_EQ(said(), load() + request({"ASKING"}) + fcall());
  answer("$7\r\ncounter\r\n+OK\r\n:1\r\n");
  EXPECT_THAT(told_, ElementsAre("1"));
}

TEST_F(FunctionCallerTest, AfterALossFunctionsAreTriedAgain) {
  call();
  answer("-ERR unknown command 'FCALL'\r\n");
  ASSERT_TRUE(caller_.uses_scripts());
  pipeline_.disconnected("gone");
  EXPECT_THAT(told_, ElementsAre(HasSubstr("gone")));
  EXPECT_FALSE(caller_.uses_scripts());
}

}  // namespace
}  // namespace heatsink::distributed
