// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/monitor_window.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::observe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class MonitorWindowTest : public testing::Test {
 protected:
  void take(const std::string& arguments, const std::string& head = "0 10.0.0.1:5") {
    window_.take("1.5 [" + head + "] " + arguments, false);
  }
  // "db/name reads+writes"
  std::vector<std::string> keys() {
    std::vector<std::string> out;
    for (const detect::KeyCount& key : window_.summarize().keys)
      out.push_back(std::to_string(key.db) + "/" + key.key + " " + std::to_string(key.reads) + "+" +
                    std::to_string(key.writes));
    return out;
  }

  MonitorNames names_;
  OwnTraffic own_;
  MonitorWindow window_{resp::CommandTable::built_in(), names_, own_, 1};
};

TEST_F(MonitorWindowTest, CountsReadsAndWritesByDatabase) {
  for (int i = 0; i < 5; ++i) take(R"("get" "k")");
  for (int i = 0; i < 3; ++i) take(R"("SET" "k" "v")", "2 10.0.0.1:5");
  take(R"("get" "k")", "2 10.0.0.1:5");
  EXPECT_THAT(keys(), ElementsAre("0/k 5+0", "2/k 1+3"));
  EXPECT_EQ(window_.summarize().requests, 9u);
}

TEST_F(MonitorWindowTest, CountsTheTemplatesOfKeysThatItDoesNotKeep) {
  for (int i = 0; i < 2000; ++i) take("\"get\" \"user:" + std::to_string(i) + "\"");
  const detect::Summary seen = window_.summarize();
  EXPECT_EQ(seen.keys.size(), MonitorWindow::kKeysMax);
  ASSERT_TRUE(seen.templates.has_value());
  ASSERT_EQ(seen.templates->list.size(), 1U);
  EXPECT_EQ(seen.templates->list[0].key, "user:*");
  EXPECT_EQ(seen.templates->list[0].reads, 2000U);
}

TEST_F(MonitorWindowTest, KnowsTheKeysOfEveryCommand) {
  take(R"("mget" "a" "b")");
  take(R"("set" "a" "v")");
  take(R"("unlink")");
  take(R"("ping")");
  take(R"("no-such-command" "x")");
  EXPECT_THAT(keys(), testing::UnorderedElementsAre("0/a 1+1", "0/b 1+0"));
}

TEST_F(MonitorWindowTest, WhatHeatsinkAsksItselfIsNoTraffic) {
  own_.add("127.0.0.1:7");
  take(R"("memory" "usage" "k")", "0 127.0.0.1:7");
  take(R"("exists" "heatsink:heartbeat")", "0 10.0.0.9:1");
  for (int i = 0; i < 3; ++i) take(R"("hello" "3")", "0 10.0.0.9:2");
  take(R"("exists" "app:proof")", "0 10.0.0.9:2");
  take(R"("get" "k")");
  EXPECT_THAT(keys(), ElementsAre("0/k 1+0"));
  EXPECT_EQ(window_.summarize().requests, 1u);
}

TEST_F(MonitorWindowTest, OfAScriptItsCallsCount) {
  take(R"-("eval" "return redis.call('get', KEYS[1])" "1" "k")-");
  take(R"("get" "k")", "0 lua");
  EXPECT_THAT(keys(), ElementsAre("0/k 1+0"));
}

TEST_F(MonitorWindowTest, NamesAreBinarySafe) {
  take(R"("get" "\x00\xff\n")");
  EXPECT_EQ(window_.summarize().keys.front().key, std::string("\0\xff\n", 3));
}

TEST_F(MonitorWindowTest, TellsCommandsAndClients) {
  for (int i = 0; i < 300; ++i) take(R"("get" "k")");
  for (int i = 0; i < 500; ++i) take(R"("set" "k" "v")", "0 [::1]:" + std::to_string(i));
  const detect::KeyCount key = window_.summarize().keys.front();
  ASSERT_EQ(key.commands.size(), 2u);
  EXPECT_EQ(key.commands[0].name, "SET");
  EXPECT_LE(key.commands[0].low, 500u);
  EXPECT_GE(key.commands[0].low, 400u);
  EXPECT_EQ(key.clients[0].name, "[::1]");
}

TEST_F(MonitorWindowTest, MarksAreSeenAndNotCounted) {
  window_.expect_mark("mark");
  take(R"("echo" "other")");
  EXPECT_FALSE(window_.mark_seen());
  window_.take(R"(7.25 [0 10.0.0.1:5] "echo" "mark")", false);
  EXPECT_TRUE(window_.mark_seen());
  EXPECT_EQ(window_.mark_ns(), 7'250'000'000);
  EXPECT_EQ(window_.lines(), 1u);
}

TEST_F(MonitorWindowTest, WhatIsNoLineIsCountedAsSuch) {
  window_.take("nonsense", false);
  window_.take(R"(1.5 [0 a] "get" "half)", false);
  window_.take(R"(1.5 [0 a] "set" "k" "hal)", true);
  EXPECT_EQ(window_.unreadable(), 2u);
  EXPECT_THAT(keys(), ElementsAre("0/k 0+1"));
}

}  // namespace
}  // namespace heatsink::observe
