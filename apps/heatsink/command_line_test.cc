// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/command_line.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <string>

namespace heatsink::app {
namespace {

TEST(WithoutSecrets, PasswordsOfUrlsAreStars) {
  EXPECT_EQ(without_secrets("redis://app:s3cret@db.example:6379/0"),
            "redis://app:***@db.example:6379/0");
  EXPECT_EQ(without_secrets("upstream.url=rediss://:s3cret@db"), "upstream.url=rediss://:***@db");
  EXPECT_EQ(without_secrets("--upstream=redis://:s3cret@[::1]:6379"),
            "--upstream=redis://:***@[::1]:6379");
  EXPECT_EQ(without_secrets("unix://:s3cret@/run/redis.sock"), "unix://:***@/run/redis.sock");
}

TEST(WithoutSecrets, NoSignInAPasswordEndsIt) {
  EXPECT_EQ(without_secrets("redis://app:s3@cr:et@db"), "redis://app:***@db");
  EXPECT_EQ(without_secrets("redis://app:s3/cret@db:1"), "redis://app:***@db:1")
      << "which is refused, but was shown";
}

TEST(WithoutSecrets, TokensAreStars) {
  EXPECT_EQ(without_secrets("admin.token=0123456789abcdef"), "admin.token=***");
  EXPECT_EQ(without_secrets("--set=admin.token=0123456789abcdef"), "--set=admin.token=***");
}

TEST(WithoutSecrets, WhatIsNoSecretStays) {
  for (const char* word :
       {"", "--upstream", "redis://127.0.0.1:6379", "redis://app@db:6379/0", "unix:///run/a.sock",
        "admin.token-file=/run/token", "user:1@home", "rediss://[::1]:6379"})
    EXPECT_EQ(without_secrets(word), word);
}

TEST(WithoutSecrets, NeverLonger) {
  EXPECT_EQ(without_secrets("redis://:a@db"), "redis://:*@db");
  EXPECT_EQ(without_secrets("redis://:@db"), "redis://:@db");
  EXPECT_EQ(without_secrets("admin.token=ab"), "admin.token=**");
}

TEST(CommandLine, TheProgramHasTheSecretsAndOthersHaveNot) {
  std::string program = "heatsink", url = "redis://:s3cret@db", plain = "--once";
  std::array<char*, 4> words = {program.data(), url.data(), plain.data(), nullptr};
  CommandLine line(3, words.data());
  ASSERT_EQ(line.count(), 3);
  EXPECT_STREQ(line.words()[1], "redis://:s3cret@db");
  EXPECT_STREQ(line.words()[2], "--once");
  EXPECT_EQ(line.words()[3], nullptr);
  EXPECT_STREQ(words[1], "redis://:***@db");
  EXPECT_EQ(url.find("s3cret"), std::string::npos) << "nor behind the end";
  EXPECT_STREQ(words[2], "--once");
}

TEST(CommandLine, TheEnvironmentIsCopiedAndItsPlaceWiped) {
  std::array<char, 32> variable = {"REDISCLI_AUTH=s3cret"};
  ASSERT_EQ(putenv(variable.data()), 0);  // its place is ours, as the first one's is the kernel's
  CommandLine line(0, nullptr);
  EXPECT_STREQ(std::getenv("REDISCLI_AUTH"), "s3cret");
  EXPECT_STREQ(variable.data(), "REDISCLI_AUTH=");
  EXPECT_EQ(std::string(variable.data(), variable.size()).find("s3cret"), std::string::npos);
  unsetenv("REDISCLI_AUTH");
}

}  // namespace
}  // namespace heatsink::app
