// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/gathered_write.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

using Args = std::vector<std::string_view>;

GatheredWriter* client(std::uintptr_t number) {
  // NOLINTNEXTLINE(performance-no-int-to-ptr): a name
  return reinterpret_cast<GatheredWriter*>(number * 64);
}

std::optional<GatherKind> kind_of(std::string_view command, const Args& args) {
  const std::optional<GatherableWrite> found = gatherable_write(gather_verb(command), args);
  return found ? std::optional(found->kind) : std::nullopt;
}

TEST(GatherableWriteTest, PlainSetsAndAdditions) {
  EXPECT_EQ(kind_of("set", {"SET", "k", "v"}), GatherKind::kSet);
  EXPECT_EQ(kind_of("set", {"SET", "k", "v", "EX", "10"}), GatherKind::kSet);
  EXPECT_EQ(kind_of("set", {"SET", "k", "v", "px", "10"}), GatherKind::kSet);
  EXPECT_EQ(kind_of("incr", {"INCR", "k"}), GatherKind::kUp);
  EXPECT_EQ(kind_of("decr", {"DECR", "k"}), GatherKind::kDown);
  EXPECT_EQ(gatherable_write(gather_verb("incrby"), Args{"INCRBY", "k", "-7"})->amount, -7);
  EXPECT_EQ(gatherable_write(gather_verb("decrby"), Args{"DECRBY", "k", "-7"})->amount, 7);
  EXPECT_EQ(kind_of("decrby", {"DECRBY", "k", "-7"}), GatherKind::kUp);
}

TEST(GatherableWriteTest, NothingWhoseReplyOrEffectDependsOnWhatIsThere) {
  EXPECT_FALSE(kind_of("set", {"SET", "k", "v", "NX"}));
  EXPECT_FALSE(kind_of("set", {"SET", "k", "v", "GET"}));
  EXPECT_FALSE(kind_of("set", {"SET", "k", "v", "KEEPTTL"}));
  EXPECT_FALSE(kind_of("set", {"SET", "k", "v", "EX", "10", "NX"}));
  EXPECT_FALSE(kind_of("append", {"APPEND", "k", "v"}));
}

TEST(GatherableWriteTest, NothingThatWillBeAnError) {
  EXPECT_FALSE(kind_of("set", {"SET", "k", "v", "EX", "0"}));
  EXPECT_FALSE(kind_of("set", {"SET", "k", "v", "EX", "9223372036854775807"}));
  EXPECT_FALSE(kind_of("incrby", {"INCRBY", "k", "1.5"}));
  EXPECT_FALSE(kind_of("incrby", {"INCRBY", "k", "+1"}));
  EXPECT_FALSE(kind_of("decrby", {"DECRBY", "k", "-9223372036854775808"}));
}

class GatheredWriteTest : public testing::Test {
 protected:
  static std::string request(const GatheredWrite& write) {
    ByteBuffer out;
    write.append_request(out);
    return std::string(out.view());
  }
  static std::vector<std::string> replies(const GatheredWrite& write, std::string_view reply) {
    std::vector<std::string> replies;
    write.for_each_reply(
        reply, [&](GatheredWrite::Writer, std::string_view wire) { replies.emplace_back(wire); });
    return replies;
  }

  GatheredWrite sets_{GatherKind::kSet, "k", {}};
  GatheredWrite ups_{GatherKind::kUp, "k", {}};
};

TEST_F(GatheredWriteTest, TheLastSetStandsForAll) {
  EXPECT_TRUE(sets_.add({client(1), 1, 0, "first", false}));
  EXPECT_TRUE(sets_.add({client(2), 1, 0, "second", false}));
  EXPECT_EQ(request(sets_), "second");
  EXPECT_EQ(replies(sets_, "+OK\r\n"), (std::vector<std::string>{"+OK\r\n", "+OK\r\n"}));
  EXPECT_FALSE(sets_.separate_after_error());
}

TEST_F(GatheredWriteTest, EachAdditionIsToldWhatItWouldHaveSeen) {
  ups_.add({client(1), 1, 1, "a", false});
  ups_.add({client(2), 1, 5, "b", false});
  ups_.add({client(1), 1, 1, "c", false});
  EXPECT_EQ(request(ups_), "*3\r\n$6\r\nINCRBY\r\n$1\r\nk\r\n$1\r\n7\r\n");
  EXPECT_EQ(replies(ups_, ":107\r\n"),
            (std::vector<std::string>{":101\r\n", ":106\r\n", ":107\r\n"}));
}

TEST_F(GatheredWriteTest, ASingleAdditionGoesAsItCame) {
  ups_.add({client(1), 1, 1, "as it came", false});
  EXPECT_EQ(request(ups_), "as it came");
  EXPECT_FALSE(ups_.separate_after_error());
}

TEST_F(GatheredWriteTest, AfterAnErrorEachAdditionIsAskedAsItCame) {
  ups_.add({client(1), 1, 1, "one", false});
  ups_.add({client(2), 1, 5, "three", true});
  ASSERT_TRUE(ups_.separate_after_error());
  std::vector<std::pair<std::string, bool>> requests;
  ups_.for_each([&](GatheredWrite::Writer writer, std::string_view wire) {
    requests.emplace_back(wire, writer.silent);
  });
  EXPECT_EQ(requests, (std::vector<std::pair<std::string, bool>>{{"one", false}, {"three", true}}));
}

TEST_F(GatheredWriteTest, ASumThatIsNoNumberDoesNotCome) {
  EXPECT_TRUE(ups_.add({client(1), 1, INT64_MAX, "a", false}));
  EXPECT_FALSE(ups_.add({client(2), 1, 1, "b", false}));
  EXPECT_EQ(ups_.size(), 1U);
}

TEST_F(GatheredWriteTest, IsBoundedInPartsAndBytes) {
  for (std::size_t i = 0; i < GatheredWrite::kPartsMax; ++i)
    ASSERT_TRUE(ups_.add({client(1), 1, 1, "x", false}));
  EXPECT_FALSE(ups_.add({client(1), 1, 1, "x", false}));
  const std::string big(GatheredWrite::kBytesMax, 'x');
  EXPECT_TRUE(sets_.add({client(1), 1, 0, big, false}));
  EXPECT_TRUE(sets_.add({client(1), 1, 0, big, false}));  // the previous one is not kept
  EXPECT_FALSE(sets_.add({client(1), 1, 0, big + "x", false}));
}

TEST_F(GatheredWriteTest, AnAnswerThatIsNoNumberIsPassedOn) {
  ups_.add({client(1), 1, 1, "a", false});
  ups_.add({client(2), 1, 1, "b", false});
  EXPECT_EQ(replies(ups_, "+QUEUED\r\n").size(), 2U);
  EXPECT_EQ(number_of(":12\r\n"), 12);
  EXPECT_EQ(number_of(":-9223372036854775808\r\n"), INT64_MIN);
  EXPECT_FALSE(number_of(":\r\n"));
  EXPECT_FALSE(number_of("$2\r\n12\r\n"));
}

}  // namespace
}  // namespace heatsink::proxy
