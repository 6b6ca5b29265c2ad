// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/value_facts.h"

#include <gtest/gtest.h>

namespace heatsink::redis {
namespace {

using resp::Value;

Value parsed(std::string_view bytes) {
  Value out;
  std::size_t consumed = 0;
  EXPECT_EQ(resp::parse_value(bytes, out, consumed), resp::ValueStatus::kValue);
  return out;
}

ValueFacts told(const std::array<std::string_view, kValueQuestions>& replies) {
  ValueFacts out;
  for (std::size_t i = 0; i < replies.size(); ++i) take_value_reply(i, parsed(replies[i]), out);
  return out;
}

TEST(ValueFacts, TheQuestionsNameTheKeyByteByByte) {
  const auto questions = value_questions(3, std::string_view("a\0b", 3));
  EXPECT_EQ(questions[0], (std::vector<std::string>{"SELECT", "3"}));
  EXPECT_EQ(questions[2], (std::vector<std::string>{"OBJECT", "ENCODING", {"a\0b", 3}}));
}

TEST(ValueFacts, AreTakenFromTheReplies) {
  const ValueFacts facts =
      told({"+OK\r\n", "+string\r\n", "$6\r\nembstr\r\n", ":72\r\n", ":5\r\n", ":1500\r\n"});
  EXPECT_EQ(facts.type, "string");
  EXPECT_EQ(facts.encoding, "embstr");
  EXPECT_EQ(facts.value_bytes, 5U);
  EXPECT_EQ(facts.memory_bytes, 72U);
  EXPECT_EQ(facts.ttl, Nanos(Millis(1500)));
  EXPECT_FALSE(facts.never_expires);
  EXPECT_EQ(facts.refusal, "");
}

TEST(ValueFacts, WithoutMemoryUsageThereIsTheLength) {
  const ValueFacts facts = told(
      {"+OK\r\n", "+string\r\n", "$3\r\nraw\r\n", "-NOPERM no memory\r\n", ":5\r\n", ":-1\r\n"});
  EXPECT_EQ(facts.value_bytes, 5U);
  EXPECT_EQ(facts.memory_bytes, std::nullopt);
  EXPECT_TRUE(facts.never_expires);
  EXPECT_EQ(facts.refusal, "NOPERM no memory");
}

TEST(ValueFacts, AKeyThatIsNotThereIsNoRefusal) {
  const ValueFacts facts =
      told({"+OK\r\n", "+none\r\n", "-ERR no such key\r\n", "$-1\r\n", ":0\r\n", ":-2\r\n"});
  EXPECT_EQ(facts.type, "none");
  EXPECT_EQ(facts.value_bytes, std::nullopt);
  EXPECT_EQ(facts.ttl, std::nullopt);
  EXPECT_FALSE(facts.never_expires);
  EXPECT_EQ(facts.refusal, "");
}

TEST(ValueFacts, OfAHashTheLengthIsNotTold) {
  const ValueFacts facts = told({"+OK\r\n", "+hash\r\n", "$8\r\nlistpack\r\n", ":120\r\n",
                                 "-WRONGTYPE no string\r\n", ":-1\r\n"});
  EXPECT_EQ(facts.value_bytes, std::nullopt);
  EXPECT_EQ(facts.memory_bytes, 120U);
  EXPECT_EQ(facts.refusal, "");
}

TEST(ValueFacts, OfAnotherDatabaseNothingIsTaken) {
  const ValueFacts facts = told({"-ERR DB index is out of range\r\n", "+string\r\n",
                                 "$6\r\nembstr\r\n", ":72\r\n", ":5\r\n", ":-1\r\n"});
  EXPECT_EQ(facts.type, "");
  EXPECT_EQ(facts.value_bytes, std::nullopt);
  EXPECT_FALSE(facts.never_expires);
  EXPECT_EQ(facts.refusal, "ERR DB index is out of range");
}

}  // namespace
}  // namespace heatsink::redis
