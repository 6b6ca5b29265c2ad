// SPDX-License-Identifier: Apache-2.0
// Fills of hashes whose fields may expire.
#include "heatsink/redis/tracker_fixture_for_test.h"

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::redis {
namespace {

using testing::AllOf;
using testing::Not;
using testing::StartsWith;

// Fields of a hash may expire on this server.
class FillingHashes : public TrackerTest {
 protected:
  FillingHashes() {
    hear(kPong + kHello + kCommandsWithFields + kOk + kBeat);
    sent();
  }
  void ask(std::initializer_list<std::string_view> words, FieldNames fields) {
    const std::vector<std::string_view> request(words);
    tracker_.fill(7, {.key = "k", .request = request, .fields = fields}, at(5));
  }
  static std::string array(std::initializer_list<std::string> replies) {
    std::string out = "*" + std::to_string(replies.size()) + "\r\n";
    for (const std::string& reply : replies) out += reply;
    return out;
  }
  static std::string map_of(std::initializer_list<std::string> names) {
    std::string out = "%" + std::to_string(names.size()) + "\r\n";
    for (const std::string& name : names) out += bulk(name) + bulk("v");
    return out;
  }
  static inline const std::string kAsksEncoding = request({"OBJECT", "ENCODING", "k"});
  static inline const std::string kTable = bulk("hashtable");  // does not say whether fields expire
  static inline const std::string kPlain = bulk("listpack");   // no field expires
  static inline const std::string kCommandsWithFields =
      "*1\r\n*6\r\n$5\r\nhpttl\r\n:-5\r\n*1\r\n+readonly\r\n:1\r\n:1\r\n:1\r\n";
};

TEST_F(FillingHashes, TheFieldsOfTheRequestAreAskedBeforeTheRead) {
  ask({"HMGET", "k", "a", "b"}, FieldNames::kArguments);
  EXPECT_EQ(sent(), request({"PTTL", "k"}) + request({"HPTTL", "k", "FIELDS", "2", "a", "b"}) +
                        request({"HMGET", "k", "a", "b"}));
  EXPECT_THAT(
      hear(integer(900) + array({integer(-1), integer(400)}) + array({bulk("1"), bulk("2")})),
      ElementsAre("filled 7 value sent 5 ttl 400 \"*2 $1 1 $1 2 \""));
}

TEST_F(FillingHashes, TheEarliestEndCounts) {
  const auto read = [this](std::int64_t key_ms, std::int64_t field_ms) {
    ask({"HGET", "k", "a"}, FieldNames::kArguments);
    return hear(integer(key_ms) + array({integer(field_ms)}) + bulk("1"));
  };
  EXPECT_THAT(read(300, 400), ElementsAre("filled 7 value sent 5 ttl 300 \"1\""));
  EXPECT_THAT(read(-1, 400), ElementsAre("filled 7 value sent 5 ttl 400 \"1\""));
  EXPECT_THAT(read(-1, 0), ElementsAre("filled 7 value sent 5 ttl 0 \"1\""));
  EXPECT_THAT(read(-1, -1), ElementsAre("filled 7 value sent 5 \"1\""));
  EXPECT_THAT(read(-1, INT64_MAX), ElementsAre("filled 7 value sent 5 ttl 31536000000 \"1\""));
}

TEST_F(FillingHashes, AFieldThatIsMissingHasNoEnd) {
  const auto read = [this](std::string_view verb, const std::string& reply) {
    ask({verb, "k", "a"}, FieldNames::kArguments);
    return hear(integer(-1) + array({integer(-2)}) + reply);
  };
  EXPECT_THAT(read("HGET", "_\r\n"), ElementsAre(StartsWith("filled 7 value sent 5 \"_")));
  EXPECT_THAT(read("HEXISTS", integer(0)), ElementsAre("filled 7 value sent 5 \":0 \""));
  ask({"HMGET", "k", "a", "b"}, FieldNames::kArguments);
  EXPECT_THAT(hear(integer(-1) + array({integer(-2), integer(30)}) + array({"_\r\n", bulk("1")})),
              ElementsAre(StartsWith("filled 7 value sent 5 ttl 30 \"*2")));
}

// Redis 8 does that in the last millisecond of a field.
TEST_F(FillingHashes, AFieldThatIsReadAndHasNoEndSpoils) {
  const auto read = [this](std::string_view verb, const std::string& reply) {
    ask({verb, "k", "a"}, FieldNames::kArguments);
    return hear(integer(-1) + array({integer(-2)}) + reply);
  };
  EXPECT_THAT(read("HGET", bulk("1")), ElementsAre("filled 7 value sent 5 ttl 0 spoiled \"1\""));
  EXPECT_THAT(read("HSTRLEN", integer(3)),
              ElementsAre("filled 7 value sent 5 ttl 0 spoiled \":3 \""));
  ask({"HMGET", "k", "a", "b"}, FieldNames::kArguments);
  EXPECT_THAT(hear(integer(-1) + array({integer(-1), integer(-2)}) + array({bulk("1"), bulk("2")})),
              ElementsAre(StartsWith("filled 7 value sent 5 ttl 0 spoiled ")));
}

TEST_F(FillingHashes, TheFieldsOfTheReplyAreAskedBehindIt) {
  ask({"HGETALL", "k"}, FieldNames::kReply);
  EXPECT_EQ(sent(), request({"PTTL", "k"}) + kAsksEncoding + request({"HGETALL", "k"}));
  EXPECT_THAT(hear(integer(-1) + kTable + map_of({"a", "b"})), IsEmpty());
  EXPECT_EQ(sent(), request({"HPTTL", "k", "FIELDS", "2", "a", "b"}));
  EXPECT_THAT(hear(array({integer(800), integer(-1)})),
              ElementsAre(StartsWith("filled 7 value sent 5 ttl 800 ")));
}

TEST_F(FillingHashes, APlainHashIsNotAskedForItsFields) {
  ask({"HGETALL", "k"}, FieldNames::kReply);
  EXPECT_THAT(hear(integer(-1) + kPlain + map_of({"a", "b"})),
              ElementsAre(StartsWith("filled 7 value sent 5 \"%2")));
  ask({"HVALS", "k"}, FieldNames::kApart);
  EXPECT_THAT(hear(integer(90) + kPlain + array({bulk("1")})),
              ElementsAre("filled 7 value sent 5 ttl 90 \"*1 $1 1 \""));
  EXPECT_THAT(sent(), AllOf(Not(HasSubstr("HPTTL")), Not(HasSubstr("HKEYS"))));
}

TEST_F(FillingHashes, OnlyListpackIsPlain) {
  for (const std::string& encoding : {bulk("listpackex"), bulk("hashtable"), bulk("")}) {
    ask({"HKEYS", "k"}, FieldNames::kReply);
    EXPECT_THAT(hear(integer(-1) + encoding + array({bulk("a")})), IsEmpty()) << encoding;
    EXPECT_THAT(hear(array({integer(30)})),
                ElementsAre("filled 7 value sent 5 ttl 30 \"*1 $1 a \""));
  }
}

// The first field that expires makes it another one.
TEST_F(FillingHashes, APlainHashThatChangesMeanwhileSpoils) {
  ask({"HKEYS", "k"}, FieldNames::kReply);
  EXPECT_THAT(hear(integer(-1) + kPlain + push({"k"}) + array({bulk("a")})),
              ElementsAre("invalidate k", StartsWith("filled 7 value sent 5 spoiled ")));
}

TEST_F(FillingHashes, AServerThatRefusesItIsNotAskedForEncodingsAgain) {
  ask({"HKEYS", "k"}, FieldNames::kReply);
  EXPECT_THAT(hear(integer(-1) + "-NOPERM x\r\n" + array({bulk("a")})), IsEmpty());
  EXPECT_THAT(hear(array({integer(30)})), ElementsAre("filled 7 value sent 5 ttl 30 \"*1 $1 a \""));
  sent();
  ask({"HVALS", "k"}, FieldNames::kApart);
  EXPECT_EQ(sent(), request({"PTTL", "k"}) + request({"HVALS", "k"}) + request({"HKEYS", "k"}));
}

TEST_F(FillingHashes, OtherFillsGoOnMeanwhile) {
  ask({"HKEYS", "k"}, FieldNames::kReply);
  tracker_.fill(8, {"l", 2}, at(6));
  sent();
  EXPECT_THAT(hear(integer(-1) + kTable + array({bulk("a")}) + kOk + bulk("v") + integer(-1)),
              ElementsAre("filled 8 value sent 6 \"v\""));
  EXPECT_EQ(sent(), request({"SELECT", "0"}) + request({"HPTTL", "k", "FIELDS", "1", "a"}));
  EXPECT_THAT(hear(kOk + array({integer(70)})),
              ElementsAre("filled 7 value sent 5 ttl 70 \"*1 $1 a \""));
}

TEST_F(FillingHashes, NoFieldsNothingToAsk) {
  ask({"HGETALL", "k"}, FieldNames::kReply);
  EXPECT_THAT(hear(integer(-2) + "_\r\n%0\r\n"), ElementsAre("filled 7 nil sent 5"));
}

TEST_F(FillingHashes, AChangeAtAnyTimeSpoils) {
  ask({"HGETALL", "k"}, FieldNames::kReply);
  EXPECT_THAT(hear(integer(-1) + kTable + map_of({"a"}) + push({"k"})),
              ElementsAre("invalidate k"));
  EXPECT_THAT(hear(array({integer(-1)})),
              ElementsAre(StartsWith("filled 7 value sent 5 spoiled ")));
  sent();
  ask({"HGETALL", "k"}, FieldNames::kReply);
  EXPECT_THAT(hear(integer(-1) + kTable + push({"k"}) + map_of({"a"})),
              ElementsAre("invalidate k", StartsWith("filled 7 value sent 5 ttl 0 spoiled ")))
      << "no field's end is known: readers who came meanwhile must not take it";
  EXPECT_THAT(sent(), Not(HasSubstr("HPTTL")));
}

// The server says nothing when a field expires.
TEST_F(FillingHashes, AFieldThatExpiresBehindTheReadSpoils) {
  ask({"HKEYS", "k"}, FieldNames::kReply);
  EXPECT_THAT(hear(integer(-1) + kTable + array({bulk("a")}) + array({integer(-2)})),
              ElementsAre("filled 7 value sent 5 ttl 0 spoiled \"*1 $1 a \""));
}

TEST_F(FillingHashes, ValuesAloneHaveTheirNamesFromHkeys) {
  const auto read = [this](const std::string& names) {
    ask({"HVALS", "k"}, FieldNames::kApart);
    sent();
    return hear(integer(-1) + kTable + array({bulk("1"), bulk("2")}) + names);
  };
  EXPECT_THAT(read(array({bulk("a"), bulk("b")})), IsEmpty());
  EXPECT_EQ(sent(), request({"HKEYS", "k"}) + request({"HPTTL", "k", "FIELDS", "2", "a", "b"}));
  EXPECT_THAT(hear(array({integer(-1), integer(9)})),
              ElementsAre("filled 7 value sent 5 ttl 9 \"*2 $1 1 $1 2 \""));
  EXPECT_THAT(read(array({bulk("a")})),
              ElementsAre("filled 7 value sent 5 ttl 0 spoiled \"*2 $1 1 $1 2 \""));
  EXPECT_THAT(read("-NOPERM x\r\n"), ElementsAre("filled 7 refused sent 5"));
  EXPECT_THAT(read(array({bulk(std::string(60, 'x'))})), ElementsAre("filled 7 too big sent 5"));
}

TEST_F(FillingHashes, TooManyFieldsMakeNoCopy) {
  TrackerOptions roomy = options();
  roomy.value_bytes_max = 1 << 20;
  tracker_.set_options(roomy);
  ask({"HKEYS", "k"}, FieldNames::kReply);
  std::string names = "*" + std::to_string(kFieldsMax + 1) + "\r\n";
  for (std::size_t i = 0; i <= kFieldsMax; ++i) names += bulk("f");
  EXPECT_THAT(hear(integer(-1) + kTable + names), ElementsAre("filled 7 too big sent 5"));
}

TEST_F(FillingHashes, EndsThatTheServerHidesMakeNoCopy) {
  const auto read = [this](const std::string& ends) {
    ask({"HGET", "k", "a"}, FieldNames::kArguments);
    return hear(integer(-1) + ends + bulk("1"));
  };
  EXPECT_THAT(read("-NOPERM x\r\n"), ElementsAre("filled 7 refused sent 5"));
  EXPECT_THAT(read(array({})), ElementsAre("filled 7 refused sent 5"));
  EXPECT_THAT(read(array({bulk("x")})), ElementsAre("filled 7 refused sent 5"));
  EXPECT_THAT(read("-ERR unknown command 'HPTTL'\r\n"), ElementsAre("filled 7 value sent 5 \"1\""));
}

TEST_F(FillingHashes, AFillGivenUpAsksNoMore) {
  ask({"HGETALL", "k"}, FieldNames::kReply);
  sent();
  EXPECT_TRUE(tracker_.tick(at(1500)).ok());
  EXPECT_THAT(log_.take(), testing::Contains("filled 7 failed sent 5"));
  sent();
  hear(integer(-1) + kTable + map_of({"a"}), at(1501));
  EXPECT_THAT(sent(), Not(HasSubstr("HPTTL")));
}

}  // namespace
}  // namespace heatsink::redis
