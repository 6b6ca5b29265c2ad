// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/fills.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heatsink/redis/tracker_part_for_test.h"

namespace heatsink::redis {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

struct FillsUnderWay : TrackerPartForTest {
  void ask(FillId id, const FillQuestion& question) {
    fills.send(fills.make(id, question, facts, at(1)), question, at(1));
  }
  // The reply to the oldest request.
  void reply(const std::string& wire) {
    const resp::Value value = value_of(wire);
    fills.on_reply(requests.take_oldest(), &value, wire, at(2));
  }

  ServerFacts facts;
  Fills fills{options, requests, log};
};

TEST(Fills, AStringIsReadBeforeItsTtl) {
  FillsUnderWay it;
  it.options.value_bytes_max = 10;
  it.ask(1, {"k", 0});
  EXPECT_EQ(it.sent(), request({"GETRANGE", "k", "0", "10"}) + request({"PTTL", "k"}));
  it.reply("$1\r\nv\r\n");
  EXPECT_THAT(it.log.take(), IsEmpty());
  it.reply(":100\r\n");
  EXPECT_THAT(it.log.take(), ElementsAre("filled 1 value sent 1 ttl 100 \"v\""));
}

TEST(Fills, OtherReadsComeAfterTheTtlInTheirDatabase) {
  FillsUnderWay it;
  const std::vector<std::string_view> words = {"LRANGE", "k", "0", "-1"};
  it.ask(1, {.key = "k", .db = 2, .request = words});
  EXPECT_EQ(it.sent(), request({"SELECT", "2"}) + request({"PTTL", "k"}) +
                           request({"LRANGE", "k", "0", "-1"}));
}

TEST(Fills, AChangeBetweenTheRepliesSpoilsTheFill) {
  FillsUnderWay it;
  it.ask(1, {"a", 0});
  it.ask(2, {"b", 0});
  it.fills.changed("a");  // before the first reply: older than the read
  it.reply("$1\r\nv\r\n");
  it.fills.changed("b");
  it.reply(":-1\r\n");
  EXPECT_THAT(it.log.take(), ElementsAre("filled 1 value sent 1 \"v\""));
  it.reply("$1\r\nw\r\n");
  it.fills.all_changed();
  it.reply(":-1\r\n");
  EXPECT_THAT(it.log.take(), ElementsAre("filled 2 value sent 1 spoiled \"w\""));
}

TEST(Fills, AFillThatHasFailedIsToldOnceAndItsRepliesAreIgnored) {
  FillsUnderWay it;
  it.ask(1, {"k", 0});
  it.fills.fail_all();
  it.fills.fail_all();
  EXPECT_THAT(it.log.take(), ElementsAre("filled 1 failed sent 1"));
  it.reply("$1\r\nv\r\n");
  it.reply(":-1\r\n");
  EXPECT_THAT(it.log.take(), IsEmpty());
}

TEST(Fills, AReplyFromAnotherDatabaseIsNoValue) {
  FillsUnderWay it;
  it.ask(1, {"k", 9});
  it.requests.take_oldest();
  it.requests.on_selected(value_of("-ERR DB index is out of range\r\n"));
  it.reply("$1\r\nv\r\n");
  it.reply(":-1\r\n");
  EXPECT_THAT(it.log.take(),
              ElementsAre("filled 1 no database sent 1 ERR DB index is out of range"));
}

TEST(Fills, AReplyThatWasTooLongToKeepIsTooBig) {
  FillsUnderWay it;
  const std::vector<std::string_view> words = {"LRANGE", "k", "0", "-1"};
  it.ask(1, {.key = "k", .request = words});
  it.reply(":-1\r\n");
  it.fills.on_reply(it.requests.take_oldest(), nullptr, "", at(2));
  EXPECT_THAT(it.log.take(), ElementsAre("filled 1 too big sent 1"));
}

TEST(Fills, FieldsAreAskedForTheirEndsWhereTheServerCanExpireThem) {
  FillsUnderWay it;
  const std::vector<std::string_view> words = {"HGET", "h", "f"};
  const FillQuestion question{.key = "h", .request = words, .fields = FieldNames::kArguments};
  it.ask(1, question);
  EXPECT_EQ(it.sent(), request({"PTTL", "h"}) + request({"HPTTL", "h", "FIELDS", "1", "f"}) +
                           request({"HGET", "h", "f"}));
  const auto commands = resp::CommandTable::from_reply(
      value_of("*1\r\n*6\r\n$3\r\nget\r\n:2\r\n*1\r\n+readonly\r\n:1\r\n:1\r\n:1\r\n"));
  ASSERT_TRUE(commands.ok());
  it.facts.commands = std::make_shared<const resp::CommandTable>(*commands);
  it.ask(2, question);
  EXPECT_EQ(it.sent(), request({"PTTL", "h"}) + request({"HGET", "h", "f"}));
}

TEST(Fills, AServerThatRefusesObjectEncodingIsNotAskedAgainOnThisConnection) {
  FillsUnderWay it;
  const std::vector<std::string_view> words = {"HGETALL", "h"};
  const FillQuestion question{.key = "h", .request = words, .fields = FieldNames::kReply};
  const std::string asks = request({"OBJECT", "ENCODING", "h"});
  it.ask(1, question);
  EXPECT_THAT(it.sent(), testing::HasSubstr(asks));
  it.reply(":-1\r\n");
  it.reply("-NOPERM this user has no permissions to run 'object|encoding'\r\n");
  it.ask(2, question);
  EXPECT_THAT(it.sent(), testing::Not(testing::HasSubstr(asks)));
  it.fills.begin();
  it.ask(3, question);
  EXPECT_THAT(it.sent(), testing::HasSubstr(asks));
}

}  // namespace
}  // namespace heatsink::redis
