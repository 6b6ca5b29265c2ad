// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/sentinel_replies.h"

#include <gtest/gtest.h>

#include "heatsink/topology/replies_for_test.h"

namespace heatsink::topology {
namespace {

resp::Value master(const char* ip, const char* port, const char* epoch, const char* flags) {
  return texts({"name", "mymaster", "ip", ip, "port", port, "flags", flags, "num-other-sentinels",
                "2", "config-epoch", epoch});
}

TEST(SentinelReplies, ShowTheMasterItsEpochAndTheOthers) {
  const auto answer =
      parse_sentinel_answer(texts({"10.0.0.1", "6379"}), master("10.0.0.1", "6379", "7", "master"));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->master.text(), "10.0.0.1:6379");
  EXPECT_EQ(answer->epoch, 7U);
  EXPECT_EQ(answer->others, 2U);
  EXPECT_FALSE(answer->doubts);
}

TEST(SentinelReplies, ANewAddressDuringAFailOverHasTheEpochThatIsShown) {
  const auto answer =
      parse_sentinel_answer(texts({"10.0.0.2", "6379"}),
                            master("10.0.0.1", "6379", "8", "master,o_down,failover_in_progress"));
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->master.text(), "10.0.0.2:6379");
  EXPECT_EQ(answer->epoch, 8U);
  EXPECT_TRUE(answer->doubts);
}

TEST(SentinelReplies, AnyDownFlagIsADoubt) {
  for (const char* flags : {"s_down,master", "master,o_down", "master,failover_in_progress"}) {
    const auto answer =
        parse_sentinel_answer(texts({"10.0.0.1", "6379"}), master("10.0.0.1", "6379", "1", flags));
    ASSERT_TRUE(answer.has_value());
    EXPECT_TRUE(answer->doubts) << flags;
  }
}

TEST(SentinelReplies, ErrorsAndOtherRepliesAreNoAnswer) {
  const resp::Value good = master("10.0.0.1", "6379", "1", "master");
  EXPECT_FALSE(parse_sentinel_answer({}, good).has_value());
  EXPECT_FALSE(parse_sentinel_answer(error_reply("NOAUTH"), good).has_value());
  EXPECT_FALSE(parse_sentinel_answer(texts({"10.0.0.1", "70000"}), good).has_value());
  EXPECT_FALSE(parse_sentinel_answer(texts({"10.0.0.1", "6379"}), error_reply("ERR")).has_value());
  EXPECT_TRUE(is_unknown_master({}, error_reply("ERR No such master with that name")));
  EXPECT_TRUE(
      is_unknown_master(error_reply("x"), error_reply("ERR No such master with that name")));
  EXPECT_FALSE(is_unknown_master(error_reply("NOAUTH"), error_reply("NOAUTH")));
}

TEST(SentinelReplies, WhyThereIsNoAnswerIsSaid) {
  const resp::Value unknown = error_reply("ERR No such master with that name");
  EXPECT_EQ(why_no_answer({}, unknown, list({texts({"name", "shop"})}), "mymaster"),
            "it does not watch 'mymaster', but 'shop'");
  EXPECT_EQ(why_no_answer({}, unknown, {}, "m"), "it does not watch 'm' nor any other master");
  const resp::Value server =
      error_reply("ERR unknown command 'SENTINEL', with args beginning with:");
  EXPECT_NE(why_no_answer(server, server, server, "m").find("a data server"), std::string::npos);
  const resp::Value noauth = error_reply("NOAUTH Authentication required.");
  EXPECT_NE(why_no_answer(noauth, noauth, noauth, "m").find("NOAUTH"), std::string::npos);
}

TEST(SentinelReplies, MembersAreReadUpToALimit) {
  const resp::Value reply =
      list({texts({"ip", "10.0.0.1", "port", "26379", "runid", "abc"}), texts({"ip", "10.0.0.2"}),
            texts({"ip", "10.0.0.3", "port", "26379"})});
  const auto members = parse_members(reply, 64);
  ASSERT_EQ(members.size(), 2U);
  EXPECT_EQ(members[0].address.text(), "10.0.0.1:26379");
  EXPECT_EQ(members[0].id, "abc");
  EXPECT_EQ(parse_members(reply, 1).size(), 1U);
  EXPECT_TRUE(parse_members(error_reply("ERR"), 64).empty());
}

TEST(SentinelReplies, TheNamesOfMastersArePrintable) {
  EXPECT_EQ(names_of_masters(list({texts({"name", "a"}), texts({"name", "b\n"})})), "'a', 'b\\n'");
  EXPECT_EQ(names_of_masters(error_reply("ERR")), "");
}

}  // namespace
}  // namespace heatsink::topology
