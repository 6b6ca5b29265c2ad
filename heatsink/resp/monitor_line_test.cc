// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/monitor_line.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::resp {
namespace {

using ::testing::ElementsAre;

std::vector<std::string> split_arguments(std::string_view arguments, bool cut = false) {
  std::string text;
  std::vector<std::string_view> args;
  if (!split_monitor_arguments(arguments, cut, text, args)) return {"wrong"};
  return {args.begin(), args.end()};
}

TEST(MonitorLine, HeadHasTimeDatabaseAndClient) {
  const auto head = parse_monitor_head(R"(1339518083.107412 [3 127.0.0.1:60866] "get" "user:1")");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->at_ns, 1339518083107412000);
  EXPECT_EQ(head->db, 3u);
  EXPECT_EQ(head->client, "127.0.0.1:60866");
  EXPECT_EQ(head->arguments, R"("get" "user:1")");
  EXPECT_FALSE(head->from_script());
}

TEST(MonitorLine, KnowsScriptsUnixSocketsAndIpv6) {
  EXPECT_TRUE(parse_monitor_head(R"(1.5 [0 lua] "get" "k")")->from_script());
  EXPECT_EQ(parse_monitor_head(R"(1.5 [0 unix:/run/a b.sock] "get" "k")")->client,
            "unix:/run/a b.sock");
  EXPECT_EQ(parse_monitor_head(R"(1.5 [0 [::1]:7] "get" "k")")->client, "[::1]:7");
}

TEST(MonitorLine, WhatIsNoneIsRefused) {
  for (const char* line :
       {"", "OK", "x", "1", "1.5", "1.5 [", "1.5 [0", "1.5 [0 ", "1.5 [0 a]", "1.5 [0 a] get",
        "1.5 [-1 a] \"get\"", "-1.5 [0 a] \"get\"", "99999999999.1 [0 a] \"get\""}) {
    EXPECT_FALSE(parse_monitor_head(line)) << line;
  }
}

TEST(MonitorLine, NamesAreBinarySafe) {
  EXPECT_THAT(split_arguments(R"("get" "a\x00\xff\n\"b\\ c")"),
              ElementsAre("get", std::string("a\0\xff\n\"b\\ c", 9)));
  EXPECT_THAT(split_arguments(R"("get" "half)"), ElementsAre("wrong"));
}

TEST(MonitorLine, OfACutLineTheWholeArgumentsAreGiven) {
  EXPECT_THAT(split_arguments(R"("set" "k" "a value that is too lo)", true),
              ElementsAre("set", "k"));
  EXPECT_THAT(split_arguments(R"("set" "k\")", true), ElementsAre("set"));
  EXPECT_THAT(split_arguments(R"("set" "k" )", true), ElementsAre("set", "k"));
  // The last quote need not end the argument: the bytes after it are unknown.
  EXPECT_THAT(split_arguments(R"("set" "k")", true), ElementsAre("set"));
  EXPECT_THAT(split_arguments(R"("se)", true), ElementsAre("wrong"));
}

}  // namespace
}  // namespace heatsink::resp
