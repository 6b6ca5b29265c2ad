// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/reply_figures.h"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string_view>

#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

constexpr std::uint64_t kBig = BigReplies::kBigBytes;

class ReplyFiguresTest : public ReliefTest {
 protected:
  static Pending read_of(std::initializer_list<std::string_view> keys, std::uint16_t sized_as = 0) {
    Pending pending;
    for (const std::string_view key : keys) pending.keys.add({name(key), hash(key), false});
    pending.read_only = true;
    pending.sized_as = sized_as;
    pending.sent_at = kStart;
    return pending;
  }
  static Upstream::Answer reply(std::uint64_t bytes, bool from_shared = true) {
    Upstream::Answer answer;
    answer.ok = true;
    answer.from_shared = from_shared;
    answer.bytes = bytes;
    answer.read_at = kStart + Millis(3);
    return answer;
  }
  std::uint32_t big(std::uint16_t command, std::string_view key) const {
    return figures.big().expect(BigReplies::hash(command, hash(key)));
  }

  KnownCommands commands{nullptr};
  ReplySizes sizes;
  ReplyFigures figures{commands, true, &sizes, kSeed};
};

TEST_F(ReplyFiguresTest, EachKeyOfAReadHasItsPart) {
  figures.answered(read_of({"a", "b"}), reply(100));
  EXPECT_EQ(sizes.last(hash("a")), 50U);
  EXPECT_EQ(sizes.last(hash("b")), 50U);
  EXPECT_EQ(figures.sampled(), nullptr);
}

TEST_F(ReplyFiguresTest, ErrorsAndWritesHaveNoSize) {
  Upstream::Answer error = reply(100);
  error.ok = false;
  figures.answered(read_of({"a"}), error);
  Pending write = read_of({"a"});
  write.read_only = false;
  figures.answered(write, reply(100));
  EXPECT_EQ(sizes.last(hash("a")), 0U);
}

TEST_F(ReplyFiguresTest, WithoutARuleThatCountsBytesRepliesAreSampled) {
  figures.set_reply_sizes(nullptr);
  ASSERT_NE(figures.sampled(), nullptr);
  for (std::uint32_t i = 0; i < 2 * copies::SampledSizes::kSampled; ++i)
    figures.answered(read_of({"a"}), reply(100));
  EXPECT_EQ(figures.sampled()->last(hash("a")), 100U);
  EXPECT_EQ(sizes.last(hash("a")), 0U);
  const ReplyFigures without_detection(commands, false, nullptr, kSeed);
  EXPECT_EQ(without_detection.sampled(), nullptr);
}

TEST_F(ReplyFiguresTest, ABigReplyIsRememberedByCommandAndKey) {
  const std::uint16_t get = commands.get_sized_as();
  figures.answered(read_of({"small"}, get), reply(100));
  EXPECT_TRUE(figures.big().empty());
  figures.answered(read_of({"a"}, get), reply(2 * kBig));
  EXPECT_EQ(big(get, "a"), 2 * kBig);
  EXPECT_EQ(big(commands.mget_sized_as(), "a"), 0U);
}

// Not "b", which has the same entry as "a".
TEST_F(ReplyFiguresTest, TheKeysOfMgetAreAsBigForGet) {
  const std::uint16_t get = commands.get_sized_as(), mget = commands.mget_sized_as();
  figures.answered(read_of({"a", "c"}, mget), reply(4 * kBig));
  EXPECT_EQ(big(mget, "a"), 4 * kBig);
  EXPECT_EQ(big(mget, "c"), 0U) << "the whole reply belongs to the first key";
  EXPECT_EQ(big(get, "a"), 2 * kBig);
  EXPECT_EQ(big(get, "c"), 2 * kBig);
}

TEST_F(ReplyFiguresTest, TimesAreThoseOfClientsCommands) {
  figures.answered(read_of({"a"}), reply(1));
  figures.answered(read_of({"a"}), reply(1, false));
  Pending select = read_of({});
  select.kind = PendingKind::kSelect;
  figures.answered(select, reply(1));
  Pending own = read_of({});
  own.kind = PendingKind::kOwn;
  figures.answered(own, reply(1));
  EXPECT_EQ(figures.latencies().shared.total().count, 1U);
  EXPECT_EQ(figures.latencies().shared.total().sum, Millis(3));
  EXPECT_EQ(figures.latencies().exclusive.total().count, 1U);
}

}  // namespace
}  // namespace heatsink::proxy
