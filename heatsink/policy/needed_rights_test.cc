// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/needed_rights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

namespace heatsink::policy {
namespace {

using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kKey = "heatsink:heartbeat";

resp::Value ok() {
  resp::Value reply;
  reply.type = resp::Value::Type::kSimple;
  reply.text = "OK";
  return reply;
}
resp::Value error(const std::string& text) {
  resp::Value reply;
  reply.type = resp::Value::Type::kError;
  reply.text = text;
  return reply;
}

// The server allows all commands except `refused`, which get this error.
std::vector<MissingRight> missing(const std::vector<std::string>& refused, const std::string& with,
                                  bool is_cluster = false) {
  const auto needed = needed_rights("app", kKey, is_cluster);
  std::vector<resp::Value> replies;
  for (const NeededRight& right : needed)
    replies.push_back(std::count(refused.begin(), refused.end(), right.name) > 0 ? error(with)
                                                                                 : ok());
  return missing_rights("app", heartbeat_pattern(kKey, is_cluster), needed, replies);
}

TEST(NeededRights, WhoMayAllIsToldNothing) {
  EXPECT_THAT(missing({}, ""), IsEmpty());
  EXPECT_THAT(missing({"EXISTS"}, "LOADING Redis is loading the dataset in memory"), IsEmpty())
      << "that is no matter of rights";
}

TEST(NeededRights, ACommandIsToldWithWhatItIsForAndHowItIsGranted) {
  for (const char* text :
       {"NOPERM this user has no permissions to run the 'client|tracking' command",
        "NOPERM this user has no permissions to run the 'client' command or its subcommand",
        "NOPERM User app has no permissions to run the 'client|tracking' command"}) {
    EXPECT_THAT(missing({"CLIENT TRACKING"}, text),
                ElementsAre(MissingRight{
                    "the server's user 'app' may not run CLIENT TRACKING: no local copies; grant "
                    "it: ACL SETUSER app +client|tracking",
                    true}));
  }
}

TEST(NeededRights, OfHashesOnlyWhereTheirFieldsExpire) {
  const std::string refused = "NOPERM this user has no permissions to run the 'hpttl' command";
  EXPECT_THAT(
      missing({"HPTTL", "OBJECT ENCODING", "HKEYS"}, refused),
      ElementsAre(MissingRight{"the server's user 'app' may not run HPTTL: no local copies "
                               "of hashes, except by HLEN; grant it: ACL SETUSER app +hpttl",
                               false},
                  MissingRight{"the server's user 'app' may not run OBJECT ENCODING: the server "
                               "works more for each copy of a small hash; grant it: ACL SETUSER "
                               "app +object|encoding",
                               false},
                  MissingRight{"the server's user 'app' may not run HKEYS: no local copies "
                               "by HVALS; grant it: ACL SETUSER app +hkeys",
                               false}));
  const auto needed = needed_rights("app", kKey, false);
  std::vector<resp::Value> replies;
  for (const NeededRight& right : needed)
    replies.push_back(right.name == "HPTTL"        ? error("ERR unknown command 'HPTTL'")
                      : right.only_with == "HPTTL" ? error(refused)
                                                   : ok());
  EXPECT_THAT(missing_rights("app", kKey, needed, replies), IsEmpty());
}

TEST(NeededRights, TheHeartbeatsKeyIsToldOnce) {
  for (const char* text :
       {"NOPERM this user has no permissions to access one of the keys used as arguments",
        "NOPERM No permissions to access a key"}) {
    EXPECT_THAT(missing({"EXISTS", "PTTL", "GETRANGE"}, text),
                ElementsAre(MissingRight{
                    "the server's user 'app' may not read the heartbeat key 'heatsink:heartbeat': "
                    "no local copies; grant it: ACL SETUSER app ~heatsink:heartbeat, or set "
                    "cache.heartbeat-key to a key that it may read",
                    true}));
  }
}

TEST(NeededRights, OnlyWhatCopiesNeedEndsThem) {
  const char* const text = "NOPERM this user has no permissions to run the 'info' command";
  EXPECT_THAT(missing({"GETRANGE", "ACL GETUSER", "INFO", "COMMAND", "SELECT"}, text),
              ::testing::AllOf(::testing::SizeIs(5),
                               ::testing::Each(Field(&MissingRight::for_copies, false))));
}

TEST(NeededRights, ACommandThatWasRenamedIsTold) {
  EXPECT_THAT(missing({"COMMAND"}, "ERR unknown command 'COMMAND', with args beginning with: "),
              ElementsAre(Field(&MissingRight::sentence,
                                HasSubstr("the server does not know COMMAND (or it was"))));
}

TEST(NeededRights, AnOlderServerDoesNotKnowShards) {
  EXPECT_THAT(missing({"CLUSTER SHARDS"}, "ERR unknown subcommand 'SHARDS'", true), IsEmpty());
}

TEST(NeededRights, OneWayToTheMapIsEnough) {
  const char* const text = "NOPERM User app has no permissions to run the 'cluster' command";
  EXPECT_THAT(missing({"CLUSTER SHARDS"}, text, true), IsEmpty());
  EXPECT_THAT(missing({"CLUSTER SLOTS"}, text, true), IsEmpty());
  EXPECT_THAT(missing({"CLUSTER SHARDS", "CLUSTER SLOTS"}, text, true),
              ::testing::AllOf(::testing::SizeIs(2),
                               ::testing::Each(Field(&MissingRight::for_copies, true))));
}

// The nodes may read when the cluster is down, or it is not known.
TEST(NeededRights, AProofByWritingIsNeededUnlessTheSettingsSayNo) {
  const auto needed = needed_rights("app", kKey, true);
  const auto is_missing = [&](const resp::Value& setting) {
    std::vector<resp::Value> replies;
    for (const NeededRight& right : needed) {
      replies.push_back(ok());
      if (right.name == "CONFIG GET") replies.back() = setting;
      if (right.name == "PERSIST") replies.back() = error("NOPERM may not to run the 'persist'");
    }
    const auto told = missing_rights("app", kKey, needed, replies);
    return std::ranges::any_of(told, [](const MissingRight& right) {
      return right.for_copies && right.grant == "ACL SETUSER app +persist";
    });
  };
  const auto says = [](const char* value) {
    resp::Value reply;
    reply.type = resp::Value::Type::kMap;
    reply.items.resize(2);
    reply.items[0] = reply.items[1] = ok();
    reply.items[0].text = "cluster-allow-reads-when-down";
    reply.items[1].text = value;
    return reply;
  };
  EXPECT_FALSE(is_missing(says("no")));
  EXPECT_TRUE(is_missing(says("yes")));
  EXPECT_TRUE(is_missing(error("NOPERM no permissions to run the 'config|get' command")));
}

TEST(NeededRights, ErrorsThatComeAfterTheRightsSayThatTheyAreThere) {
  for (const char* text : {"MOVED 0 127.0.0.1:7000", "READONLY You can't write", "NOREPLICAS x",
                           "CLUSTERDOWN The cluster is down", "NOPERM x", "ERR x"})
    EXPECT_FALSE(says_nothing_of_rights(error(text))) << text;
  EXPECT_TRUE(says_nothing_of_rights(error("LOADING Redis is loading the dataset in memory")));
  EXPECT_TRUE(says_nothing_of_rights(error("BUSY Redis is busy running a script")));
  EXPECT_FALSE(says_nothing_of_rights(ok()));
}

TEST(NeededRights, OfAClusterItsNodesToo) {
  const char* const text = "NOPERM User app has no permissions to run the 'cluster|nodes' command";
  for (const char* name : {"CLUSTER NODES", "CLUSTER INFO", "CONFIG GET", "ASKING"}) {
    EXPECT_THAT(missing({name}, text), IsEmpty());
    EXPECT_THAT(missing({name}, text, true),
                ElementsAre(Field(&MissingRight::sentence,
                                  HasSubstr(std::string("may not run ") + name + ": "))));
  }
}

TEST(NeededRights, OfAClusterAHeartbeatKeyForEachSlot) {
  const std::string key = needed_rights("app", kKey, true)[1].words[1];
  EXPECT_THAT(key, ::testing::MatchesRegex("\\{[a-z0-9]+\\}heatsink:heartbeat"));
  EXPECT_THAT(missing({"EXISTS", "PTTL", "PERSIST"}, "NOPERM No permissions to access a key", true),
              ElementsAre(Field(&MissingRight::grant, "ACL SETUSER app ~{*}heatsink:heartbeat")));
}

TEST(NeededRights, NamesAreShownAsOneLine) {
  const auto needed = needed_rights("a\nb", "k\r", false);
  const std::vector<resp::Value> replies(needed.size(),
                                         error("NOPERM No permissions to access a key"));
  const auto told = missing_rights("a\nb", "k\r", needed, replies);
  ASSERT_EQ(told.size(), 1U);
  EXPECT_THAT(told[0].sentence, HasSubstr("ACL SETUSER a\\nb ~k\\r, or"));
}

}  // namespace
}  // namespace heatsink::policy
