// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/base64.h"

#include <gtest/gtest.h>

namespace heatsink {
namespace {

using namespace std::string_view_literals;

TEST(Base64, VectorsOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foob"), "Zm9vYg==");
  EXPECT_EQ(base64("fooba"), "Zm9vYmE=");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
}

TEST(Base64, AnyBytes) {
  EXPECT_EQ(base64("\0\xff\xfb\xff"sv), "AP/7/w==");
  EXPECT_EQ(base64("\0"sv), "AA==");
}

TEST(Base64, ReadsBackWhatItWrites) {
  std::string bytes;
  for (int i = 0; i < 256; ++i) {
    EXPECT_EQ(from_base64(base64(bytes)), bytes);
    bytes += static_cast<char>(i * 7);
  }
}

TEST(Base64, WhatItDoesNotWriteIsNothing) {
  for (const std::string_view wrong : {"Zg", "Zg=", "Zh==", "Zm9=", "Zm9v====", "====", "Zm9vZ===",
                                       "Zg==Zg==", "Z m9v", "Zm9v\n", "Zm9\x80", "=", "é"})
    EXPECT_EQ(from_base64(wrong), std::nullopt) << wrong;
}

}  // namespace
}  // namespace heatsink
