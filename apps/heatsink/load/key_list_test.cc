// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/load/key_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <set>

namespace heatsink::app {
namespace {

using testing::HasSubstr;

std::vector<std::string> played(const KeyList& list) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < list.length(); ++i) out.emplace_back(list.name(list.rank_at(i)));
  return out;
}

TEST(KeyList, KeepsTheOrderOfTheLinesAndKnowsEachKeyOnce) {
  const KeyList list("b\na\n\nb\r\nkey with spaces\nb");
  EXPECT_EQ(played(list), (std::vector<std::string>{"b", "a", "b", "key with spaces", "b"}));
  EXPECT_EQ(list.distinct(), 3u);
  EXPECT_EQ(list.name(0), "b");
  EXPECT_EQ(list.name(2), "key with spaces");
}

TEST(KeyList, ReadsAFile) {
  const std::string path = testing::TempDir() + "key_list_test." + std::to_string(getpid());
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "key:" + std::to_string(i % 20'000) + "\n";
  std::ofstream(path, std::ios::binary) << text;
  const auto list = KeyList::read(path);
  std::remove(path.c_str());
  ASSERT_TRUE(list.ok());
  EXPECT_EQ((*list)->length(), 50'000u);
  EXPECT_EQ((*list)->distinct(), 20'000u);
  EXPECT_EQ((*list)->name((*list)->rank_at(49'999)), "key:9999");
}

TEST(KeyList, SaysWhyAFileCannotBePlayed) {
  EXPECT_THAT(KeyList::read("/no/such\nfile").error().message,
              HasSubstr("'/no/such\\nfile' cannot be read"));
  EXPECT_THAT(KeyList::read(testing::TempDir()).error().message, HasSubstr("cannot be read"));
  EXPECT_THAT(KeyList::read("/dev/null").error().message, HasSubstr("has no key"));
  EXPECT_THAT(KeyList::read("/dev/zero", 100'000).error().message,
              HasSubstr("is longer than 100000 bytes"));
}

TEST(LoadKeys, EveryRankHasANameOfItsOwn) {
  std::set<std::string> names;
  for (std::uint64_t rank = 0; rank < 10'000; ++rank) names.insert(key_name(rank));
  EXPECT_EQ(names.size(), 10'000u);
  EXPECT_EQ(key_name(0), "product:1000:price");
  EXPECT_EQ(key_name(1), "session:1001");
}

TEST(LoadKeys, ValuesHaveTheirSizeAndDifferByVersion) {
  std::string one, two;
  for (const std::size_t size : {1U, 16U, 17U, 64U, 1024U}) {
    make_value(one, size, 1);
    make_value(two, size, 2);
    EXPECT_EQ(one.size(), size);
    EXPECT_NE(one, two);
  }
  make_value(one, 0, 1);
  EXPECT_EQ(one, "");
}

}  // namespace

}  // namespace heatsink::app
