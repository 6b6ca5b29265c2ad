// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/command_undo.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

using Args = std::vector<std::string_view>;

// The wire form of the requests, with spaces instead of the framing, so that tests are readable.
std::string readable(const PutBack& request) {
  resp::Value value;
  std::size_t used = 0;
  EXPECT_EQ(resp::parse_value(request.wire.view(), value, used), resp::ValueStatus::kValue);
  EXPECT_EQ(used, request.wire.size());
  std::string words;
  for (const resp::Value& item : value.items) words += (words.empty() ? "" : " ") + item.text;
  return words;
}

std::vector<PutBack> undo(const Args& args, std::string_view reply) {
  resp::Value value;
  std::size_t used = 0;
  EXPECT_EQ(resp::parse_value(reply, value, used), resp::ValueStatus::kValue);
  return CommandUndo(args).requests(value);
}

std::string undone(const Args& args, std::string_view reply) {
  const std::vector<PutBack> requests = undo(args, reply);
  return requests.size() == 1 ? readable(requests[0]) : std::to_string(requests.size());
}

constexpr std::string_view kPopped = "*2\r\n$1\r\nq\r\n$1\r\ne\r\n";

TEST(CommandUndo, AnElementGoesBackToTheEndItCameFrom) {
  EXPECT_EQ(undone({"BLPOP", "p", "q", "0"}, kPopped), "LPUSH q e");
  EXPECT_EQ(undone({"brpop", "q", "0"}, kPopped), "RPUSH q e");
  EXPECT_EQ(undo({"BLPOP", "q", "0"}, kPopped)[0].keys, std::vector<std::string>{"q"});
}

TEST(CommandUndo, WhatWasTakenLastGoesBackFirst) {
  constexpr std::string_view kReply = "*2\r\n$1\r\nq\r\n*3\r\n$1\r\n1\r\n$1\r\n2\r\n$1\r\n3\r\n";
  EXPECT_EQ(undone({"BLMPOP", "0", "2", "p", "q", "LEFT", "COUNT", "3"}, kReply), "LPUSH q 3 2 1");
  EXPECT_EQ(undone({"BLMPOP", "0", "1", "q", "right", "COUNT", "3"}, kReply), "RPUSH q 3 2 1");
}

TEST(CommandUndo, AMovedElementGoesBackIfItIsStillThere) {
  const Args move = {"BLMOVE", "from", "to", "LEFT", "RIGHT", "0"};
  const std::string script = undone(move, "$1\r\ne\r\n");
  EXPECT_TRUE(script.starts_with("EVAL if redis.call('LREM'")) << script;
  EXPECT_TRUE(script.ends_with(" 2 to from -1 e LPUSH")) << script;
  EXPECT_TRUE(undone({"BLMOVE", "f", "t", "right", "left", "0"}, "$1\r\ne\r\n")
                  .ends_with(" 2 t f 1 e RPUSH"));
  EXPECT_TRUE(undone({"BRPOPLPUSH", "f", "t", "0"}, "$1\r\ne\r\n").ends_with(" 2 t f 1 e RPUSH"));
  EXPECT_EQ(undo(move, "$1\r\ne\r\n")[0].keys, (std::vector<std::string>{"to", "from"}));
}

TEST(CommandUndo, MembersKeepTheScoreThatTheyHaveMeanwhile) {
  const Args pop = {"BZPOPMIN", "z", "0"};
  EXPECT_EQ(undone(pop, "*3\r\n$1\r\nz\r\n$1\r\nm\r\n$3\r\n1.5\r\n"), "ZADD z NX 1.5 m");
  EXPECT_EQ(undone(pop, "*3\r\n$1\r\nz\r\n$1\r\nm\r\n,1.5\r\n"), "ZADD z NX 1.5 m");
  EXPECT_EQ(undone({"BZMPOP", "0", "1", "z", "MAX"},
                   "*2\r\n$1\r\nz\r\n*2\r\n*2\r\n$1\r\na\r\n$1\r\n1\r\n*2\r\n$1\r\nb\r\n,inf\r\n"),
            "ZADD z NX 1 a inf b");
}

constexpr std::string_view kEntries = "*2\r\n*2\r\n$3\r\n7-0\r\n*0\r\n*2\r\n$3\r\n7-3\r\n*0\r\n";

TEST(CommandUndo, EntriesOfAGroupAreUndelivered) {
  const Args read = {"XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">"};
  const std::string before = "6-18446744073709551615";
  const std::string end = " 1 s g " + before + " 7-3 7-0 7-3";
  EXPECT_TRUE(undone(read, "*1\r\n*2\r\n$1\r\ns\r\n" + std::string(kEntries)).ends_with(end));
  EXPECT_TRUE(undone(read, "%1\r\n$1\r\ns\r\n" + std::string(kEntries)).ends_with(end));
  const std::string one = "$1\r\ns\r\n*1\r\n*2\r\n$3\r\n7-2\r\n*0\r\n";
  EXPECT_EQ(undo(read, "%2\r\n" + one + one).size(), 2u);
  EXPECT_TRUE(undone(read, "%1\r\n" + one).ends_with(" 1 s g 7-1 7-2 7-2"));
}

TEST(CommandUndo, WhatTookNothingIsNotUndone) {
  EXPECT_FALSE(CommandUndo(Args{"XREAD", "BLOCK", "0", "STREAMS", "s", "$"}).takes_data());
  EXPECT_FALSE(CommandUndo(Args{"WAIT", "1", "0"}).takes_data());
  EXPECT_FALSE(CommandUndo(Args{"BLPOP", "q"}).takes_data());
  EXPECT_FALSE(CommandUndo(Args{"BLMPOP", "0", "18446744073709551615", "q", "LEFT"}).takes_data());
  for (const Args& args :
       {Args{"BLPOP", "q", "0"}, Args{"BLMOVE", "a", "b", "LEFT", "LEFT", "0"},
        Args{"BZPOPMIN", "z", "0"}, Args{"BLMPOP", "0", "1", "q", "LEFT"},
        Args{"XREADGROUP", "GROUP", "g", "c", "BLOCK", "0", "STREAMS", "s", ">"}}) {
    for (const std::string_view reply :
         {"*-1\r\n", "$-1\r\n", "_\r\n", "-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n"}) {
      EXPECT_TRUE(undo(args, reply).empty()) << args[0] << reply;
    }
  }
}

TEST(CommandUndo, WhatItDoesNotUnderstandItLeavesAlone) {
  const Args claims = {"XREADGROUP", "GROUP", "g", "c", "CLAIM", "5", "STREAMS", "s", ">"};
  EXPECT_FALSE(CommandUndo(claims).takes_data());
  const Args read = {"XREADGROUP", "GROUP", "g", "c", "STREAMS", "s", ">"};
  for (const std::string_view entry : {"$3\r\n7-0\r\n", "*2\r\n$3\r\n7_0\r\n*0\r\n",
                                       "*2\r\n$3\r\n0-0\r\n*0\r\n", "*1\r\n$3\r\n7-0\r\n"})
    EXPECT_EQ(undone(read, "%1\r\n$1\r\ns\r\n*1\r\n" + std::string(entry)), "0") << entry;
  EXPECT_EQ(undone({"BZMPOP", "0", "1", "z", "MAX"}, "*2\r\n$1\r\nz\r\n*1\r\n$1\r\na\r\n"), "0");
  EXPECT_EQ(undone({"BLPOP", "q", "0"}, "*2\r\n$1\r\nq\r\n*0\r\n"), "0");
}

}  // namespace
}  // namespace heatsink::proxy
