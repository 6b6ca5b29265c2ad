// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/known_scripts.h"

#include <gtest/gtest.h>

#include "heatsink/redis/upstream_address.h"

namespace heatsink::proxy {
namespace {

constexpr std::string_view kReturnOne = "return 1";
constexpr std::string_view kSha1 = "e0e1f9fabfc9d4800c877a703b823ac0578ff8db";  // redis-cli's

struct KnownScriptsTest : testing::Test {
  redis::UpstreamAddress a{net::parse_redis_url("redis://127.0.0.1:1").value()};
  redis::UpstreamAddress b{net::parse_redis_url("redis://127.0.0.1:2").value()};
  KnownScripts scripts;
};

TEST_F(KnownScriptsTest, ANodeMissesWhatAnotherHasRun) {
  scripts.learn(kReturnOne, &a);
  EXPECT_EQ(scripts.missing_at(a, kSha1), nullptr);
  const auto text = scripts.missing_at(b, "E0E1F9FABFC9D4800C877A703B823AC0578FF8DB");
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(*text, kReturnOne);
  EXPECT_EQ(scripts.missing_at(b, kSha1), nullptr);  // it has been given the text
  EXPECT_EQ(scripts.missing_at(b, "no such script"), nullptr);
}

TEST_F(KnownScriptsTest, ARestartedNodeMissesIt) {
  scripts.learn(kReturnOne, &a);
  scripts.forget_at(a);
  EXPECT_NE(scripts.missing_at(a, kSha1), nullptr);
}

TEST_F(KnownScriptsTest, AFlushForgetsAll) {
  scripts.learn(kReturnOne, &a);
  scripts.clear();
  EXPECT_EQ(scripts.text_of(kSha1), nullptr);
  EXPECT_EQ(scripts.size(), 0U);
}

TEST_F(KnownScriptsTest, TheOneUsedLongestAgoIsForgotten) {
  scripts.learn(kReturnOne, &a);
  for (std::size_t i = 1; i < KnownScripts::kScriptsMax; ++i)
    scripts.learn("return " + std::to_string(i + 1), &a);
  EXPECT_NE(scripts.text_of(kSha1), nullptr);  // used: now the latest
  scripts.learn("return 'one more'", &a);
  EXPECT_EQ(scripts.size(), KnownScripts::kScriptsMax);
  EXPECT_NE(scripts.text_of(kSha1), nullptr);
  scripts.learn(std::string(KnownScripts::kTextMax + 1, ' '), &a);  // too long to be kept
  EXPECT_EQ(scripts.size(), KnownScripts::kScriptsMax);
}

TEST_F(KnownScriptsTest, TheBytesOfTheTextsAreBounded) {
  scripts.learn(kReturnOne, &a);
  for (std::size_t i = 0; i <= KnownScripts::kBytesMax / KnownScripts::kTextMax; ++i)
    scripts.learn(std::string(KnownScripts::kTextMax - 2, 'x') + std::to_string(10 + i), &a);
  EXPECT_EQ(scripts.text_of(kSha1), nullptr);
  EXPECT_LE(scripts.size(), KnownScripts::kBytesMax / KnownScripts::kTextMax);
}

}  // namespace
}  // namespace heatsink::proxy
