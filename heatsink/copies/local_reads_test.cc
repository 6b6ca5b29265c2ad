// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/local_reads.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "heatsink/resp/command_table.h"

namespace heatsink::copies {
namespace {

const resp::CommandTable& table() { return resp::CommandTable::built_in(); }

TEST(LocalReads, EachHasItsPlaceAndIsKnownToTheServer) {
  std::uint16_t number = 0;
  for (const LocalRead& read : local_reads()) {
    EXPECT_EQ(read.number, number++);
    const resp::Command* command = table().find_name(read.name);
    ASSERT_NE(command, nullptr) << read.name;
    EXPECT_EQ(local_read_of(*command), &read) << read.name;
  }
  EXPECT_EQ(local_reads()[cache::Read{}.command].name, "get");
}

TEST(LocalReads, WhatDependsOnMoreThanItsKeysIsNotOnTheList) {
  for (const char* name :
       {"ttl",       "pttl",        "srandmember",     "hrandfield",      "zrandmember",
        "randomkey", "hscan",       "sscan",           "zscan",           "scan",
        "dump",      "object|freq", "object|idletime", "object|encoding", "sort_ro",
        "lcs",       "sinter",      "zdiff",           "memory|usage",    "xpending",
        "xread",     "touch",       "pfcount",         "getex",           "set",
        "getdel",    "eval_ro",     "georadius",       "bitfield"}) {
    const resp::Command* command = table().find_name(name);
    ASSERT_NE(command, nullptr) << name;
    EXPECT_EQ(local_read_of(*command), nullptr) << name;
  }
}

TEST(LocalReads, ACommandThatIsNotAsKnownIsNotServed) {
  resp::Command get = *table().find_name("get");
  EXPECT_NE(local_read_of(get), nullptr);
  for (const std::uint32_t odd : {resp::kNondeterministicOutput, resp::kModule, resp::kBlocking}) {
    resp::Command other = get;
    other.flags |= odd;
    EXPECT_EQ(local_read_of(other), nullptr) << odd;
  }
  resp::Command elsewhere = get;
  elsewhere.first_key = 2;
  EXPECT_EQ(local_read_of(elsewhere), nullptr);
  get.flags &= ~std::uint32_t{resp::kReadonly};
  EXPECT_EQ(local_read_of(get), nullptr);
}

TEST(LocalReads, SeveralKeysAreReadOneByOne) {
  const auto row = [](const char* name) { return *local_read_of(*table().find_name(name)); };
  EXPECT_EQ(read_of_each(row("mget")).name, "get");
  EXPECT_EQ(read_of_each(row("exists")).name, "exists");
}

TEST(LocalReads, NullsOfARankDependOnItsArguments) {
  const LocalRead& rank = *local_read_of(*table().find_name("zrank"));
  EXPECT_FALSE(rank.form(1).null_arrays);
  EXPECT_TRUE(rank.form(2).null_arrays);
}

TEST(LocalReads, PeopleSeeNamesAsTheyWriteThem) {
  EXPECT_EQ(upper_name(*local_read_of(*table().find_name("hgetall"))), "HGETALL");
}

TEST(LocalReads, LongArgumentsAreNotKept) {
  const std::string half(kReadArgumentBytesMax / 2, 'a');
  const std::vector<std::string_view> fit = {half, half};
  const std::vector<std::string_view> long_one = {half, half, "a"};
  const std::vector<std::string_view> many(kReadArgumentsMax + 1, "a");
  EXPECT_TRUE(worth_keeping({0, fit}));
  EXPECT_FALSE(worth_keeping({0, long_one}));
  EXPECT_FALSE(worth_keeping({0, many}));
}

TEST(LocalReads, TheHashTellsReadsApart) {
  const auto hash = [](std::uint16_t command, std::vector<std::string_view> words) {
    return hash_read({5}, {command, words}).value;
  };
  EXPECT_EQ(hash(1, {"a", "b"}), hash(1, {"a", "b"}));
  EXPECT_NE(hash(1, {"a", "b"}), hash(1, {"b", "a"}));
  EXPECT_NE(hash(1, {"a", "b"}), hash(1, {"ab"}));
  EXPECT_NE(hash(1, {"a"}), hash(2, {"a"}));
  EXPECT_NE(hash(1, {}), hash_read({6}, {1, {}}).value);
}

}  // namespace
}  // namespace heatsink::copies
