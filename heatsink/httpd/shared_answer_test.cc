// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/shared_answer.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heatsink::httpd {
namespace {

struct SharedAnswerTest : ::testing::Test {
  bool ask(const std::string& who) {
    return shared.ask([this, who](const Answer& answer) { told.push_back(who + answer.body); });
  }

  int made = 0;
  std::vector<std::string> told;
  SharedAnswer shared{[this] { ++made; }, 3};
};

TEST_F(SharedAnswerTest, WhoAsksWhileOneIsMadeGetsTheNext) {
  EXPECT_TRUE(ask("a"));
  EXPECT_TRUE(ask("b"));
  EXPECT_TRUE(ask("c"));
  EXPECT_EQ(made, 1);
  shared.made({200, "1"});
  EXPECT_EQ(told, (std::vector<std::string>{"a1"}));
  EXPECT_EQ(made, 2);
  shared.made({200, "2"});
  EXPECT_EQ(told, (std::vector<std::string>{"a1", "b2", "c2"}));
  EXPECT_EQ(made, 2) << "nobody waits any more";
  EXPECT_TRUE(ask("d"));
  EXPECT_EQ(made, 3);
}

TEST_F(SharedAnswerTest, ThoseWhoWaitAreBounded) {
  for (const char* who : {"a", "b", "c"}) EXPECT_TRUE(ask(who));
  EXPECT_FALSE(ask("d"));
  shared.made({});
  EXPECT_TRUE(ask("d"));
}

TEST_F(SharedAnswerTest, WhoAsksAgainFromItsAnswerGetsTheNextOne) {
  int answers = 0;
  EXPECT_TRUE(shared.ask([&](const Answer&) {
    ++answers;
    EXPECT_TRUE(ask("again"));
  }));
  shared.made({200, "1"});
  EXPECT_EQ(answers, 1);
  EXPECT_EQ(made, 2);
  shared.made({200, "2"});
  EXPECT_EQ(told, (std::vector<std::string>{"again2"}));
}

}  // namespace
}  // namespace heatsink::httpd
