// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/secret_file.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>

namespace heatsink {
namespace {

std::string file_with(const std::string& content) {
  const std::string test = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  std::string path = ::testing::TempDir() + "heatsink-secret-" + test;
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(SecretFile, OneLineWithOrWithoutItsEnd) {
  for (const char* end : {"", "\n", "\r\n"})
    EXPECT_EQ(*read_secret_file(file_with("0123456789abcdef" + std::string(end))),
              "0123456789abcdef");
}

TEST(SecretFile, WhatIsNoSecretIsRefusedAndNotRepeated) {
  for (const std::string& bad :
       {std::string(), std::string("hush"), std::string("hush hush hush hush"),
        std::string("hushhushhushhush\nhush"), std::string(5000, 'h')}) {
    const Result<std::string> secret = read_secret_file(file_with(bad));
    ASSERT_FALSE(secret.ok());
    EXPECT_EQ(secret.error().message.find("hush"), std::string::npos);
  }
}

TEST(SecretFile, AMissingFileIsNamed) {
  const Result<std::string> secret = read_secret_file("/nowhere/token");
  ASSERT_FALSE(secret.ok());
  EXPECT_NE(secret.error().message.find("/nowhere/token"), std::string::npos);
  EXPECT_FALSE(read_secret_file("/").ok());
}

TEST(PasswordFile, TheFirstLineWhateverItIs) {
  for (const char* rest : {"", "\n", "\r\n", "\nmore\n"})
    EXPECT_EQ(*read_password_file(file_with("pw with ü" + std::string(rest))), "pw with ü");
  EXPECT_EQ(read_password_file(file_with(std::string(kPasswordBytesMax, 'h') + "\r\n"))->size(),
            kPasswordBytesMax);
}

TEST(PasswordFile, WhatIsNoneIsRefusedAndNotRepeated) {
  for (const std::string& bad :
       {std::string(), std::string("\nhush"), std::string("\r\n"),
        std::string(kPasswordBytesMax + 1, 'h'), std::string("hush\0hush", 9)}) {
    const Result<std::string> password = read_password_file(file_with(bad));
    ASSERT_FALSE(password.ok());
    EXPECT_NE(password.error().message.find("heatsink-secret"), std::string::npos);
    EXPECT_EQ(password.error().message.find("hush"), std::string::npos);
  }
  EXPECT_FALSE(read_password_file("/nowhere/password").ok());
  EXPECT_FALSE(read_password_file("/").ok());
}

TEST(SameSecret, OnlyTheSameBytes) {
  EXPECT_TRUE(same_secret("abc", "abc"));
  for (const char* other : {"", "ab", "abd", "xbc", "abcabc", "abca"})
    EXPECT_FALSE(same_secret(other, "abc")) << other;
  EXPECT_FALSE(same_secret("a", ""));
}

}  // namespace
}  // namespace heatsink
