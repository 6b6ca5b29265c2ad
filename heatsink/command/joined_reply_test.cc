// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/joined_reply.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

std::string joined(Join join, const std::vector<std::string_view>& replies,
                   std::uint64_t random = 0) {
  std::vector<PartReply> parts;
  parts.reserve(replies.size());
  for (const std::string_view wire : replies) parts.push_back({wire, {}});
  return join_replies(join, parts, random);
}

TEST(JoinedReply, Numbers) {
  EXPECT_EQ(joined(Join::kSum, {":2\r\n", ":-1\r\n", ":5\r\n"}), ":6\r\n");
  EXPECT_TRUE(joined(Join::kSum, {":2\r\n", "+OK\r\n"}).starts_with("-ERR heatsink"));
}

TEST(JoinedReply, ElementsGoToThePositionsOfTheirKeys) {
  const std::vector<std::uint32_t> first = {0, 2}, second = {1};
  const std::vector<PartReply> parts = {{"*2\r\n$1\r\na\r\n$-1\r\n", first},
                                        {"*1\r\n$4\r\nb\r\nb\r\n", second}};
  EXPECT_EQ(join_replies(Join::kPositions, parts, 0), "*3\r\n$1\r\na\r\n$4\r\nb\r\nb\r\n$-1\r\n");
  const std::vector<PartReply> torn = {{"*1\r\n$1\r\na\r\n", first}, parts[1]};
  EXPECT_TRUE(join_replies(Join::kPositions, torn, 0).starts_with("-ERR heatsink"));
}

TEST(JoinedReply, OneErrorIsTheReply) {
  EXPECT_EQ(joined(Join::kSum, {":1\r\n", "-NOPERM no\r\n"}), "-NOPERM no\r\n");
  EXPECT_EQ(joined(Join::kOk, {"+OK\r\n", "-OOM out\r\n"}), "-OOM out\r\n");
}

TEST(JoinedReply, Arrays) {
  EXPECT_EQ(joined(Join::kConcat, {"*1\r\n$1\r\na\r\n", "*0\r\n", "*1\r\n*1\r\n:1\r\n"}),
            "*2\r\n$1\r\na\r\n*1\r\n:1\r\n");
  EXPECT_EQ(joined(Join::kAll, {"*2\r\n:1\r\n:1\r\n", "*2\r\n:1\r\n:0\r\n"}), "*2\r\n:1\r\n:0\r\n");
}

TEST(JoinedReply, SubscribersOfAllNodes) {
  EXPECT_EQ(joined(Join::kUnion, {"*2\r\n$1\r\na\r\n$1\r\nb\r\n", "*0\r\n", "*1\r\n$1\r\nb\r\n"}),
            "*2\r\n$1\r\na\r\n$1\r\nb\r\n");
  EXPECT_TRUE(joined(Join::kUnion, {"*0\r\n", ":1\r\n"}).starts_with("-ERR heatsink"));
  EXPECT_EQ(joined(Join::kNamedSums, {"*4\r\n$1\r\na\r\n:2\r\n$1\r\nb\r\n:0\r\n",
                                      "*4\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n:7\r\n"}),
            "*4\r\n$1\r\na\r\n:3\r\n$1\r\nb\r\n:7\r\n");
  EXPECT_EQ(joined(Join::kNamedSums, {"*0\r\n", "*0\r\n"}), "*0\r\n");
  for (const std::string_view other :
       {"*2\r\n$1\r\nb\r\n:1\r\n", "*1\r\n$1\r\na\r\n", "*2\r\n$1\r\na\r\n+x\r\n", "*0\r\n"})
    EXPECT_TRUE(
        joined(Join::kNamedSums, {"*2\r\n$1\r\na\r\n:1\r\n", other}).starts_with("-ERR heatsink"))
        << other;
}

TEST(JoinedReply, TheScriptThatRunsSomewhere) {
  constexpr std::string_view kIdle =
      "*4\r\n$14\r\nrunning_script\r\n*-1\r\n$7\r\nengines\r\n*0\r\n";
  constexpr std::string_view kIdle3 = "%2\r\n$14\r\nrunning_script\r\n_\r\n$7\r\nengines\r\n%0\r\n";
  constexpr std::string_view kBusy =
      "*4\r\n$14\r\nrunning_script\r\n*2\r\n$4\r\nname\r\n$1\r\nf\r\n$7\r\nengines\r\n*0\r\n";
  EXPECT_EQ(joined(Join::kRunning, {kIdle, kBusy, kIdle}), kBusy);
  EXPECT_EQ(joined(Join::kRunning, {kIdle3, kIdle3}), kIdle3);
  EXPECT_EQ(joined(Join::kMost, {":1\r\n", ":2\r\n", ":0\r\n"}), ":2\r\n");
  EXPECT_TRUE(joined(Join::kMost, {":1\r\n", "+OK\r\n"}).starts_with("-ERR heatsink"));
}

TEST(JoinedReply, CountersInParts) {
  EXPECT_EQ(joined(Join::kCounter, {"$1\r\n2\r\n", "$-1\r\n", "$3\r\n-12\r\n"}), "$3\r\n-10\r\n");
  EXPECT_EQ(joined(Join::kCounter, {"_\r\n", "_\r\n"}), "_\r\n");
  EXPECT_TRUE(
      joined(Join::kCounter, {"$1\r\n2\r\n", "$1\r\nx\r\n"}).starts_with("-ERR value is not"));
  EXPECT_TRUE(joined(Join::kCounter, {"$19\r\n9223372036854775807\r\n", "$1\r\n1\r\n"})
                  .starts_with("-ERR heatsink: the sum"));
  EXPECT_TRUE(joined(Join::kCounter, {"$1\r\n2\r\n", ":2\r\n"}).starts_with("-ERR heatsink"));
  EXPECT_EQ(joined(Join::kCounter, {"-WRONGTYPE no\r\n", "$1\r\n1\r\n"}), "-WRONGTYPE no\r\n");
  EXPECT_EQ(joined(Join::kAnyOne, {":0\r\n", ":1\r\n", ":1\r\n"}), ":1\r\n");
  EXPECT_EQ(joined(Join::kAnyOne, {":0\r\n", ":0\r\n"}), ":0\r\n");
}

TEST(JoinedReply, WhatOneOfThemHas) {
  EXPECT_EQ(joined(Join::kAnyOk, {"-NOTBUSY none\r\n", "+OK\r\n"}), "+OK\r\n");
  EXPECT_EQ(joined(Join::kAnyOk, {"-NOTBUSY none\r\n", "-UNKILLABLE it wrote\r\n"}),
            "-UNKILLABLE it wrote\r\n");
  EXPECT_EQ(joined(Join::kAnyOk, {"-NOSCRIPT none\r\n", "-NOPERM no\r\n"}), "-NOPERM no\r\n");
  EXPECT_EQ(joined(Join::kRandomOne, {"$-1\r\n", "$1\r\na\r\n", "$1\r\nb\r\n"}, 3), "$1\r\nb\r\n");
  EXPECT_EQ(joined(Join::kRandomOne, {"_\r\n", "_\r\n"}), "_\r\n");
}

}  // namespace
}  // namespace heatsink::proxy
