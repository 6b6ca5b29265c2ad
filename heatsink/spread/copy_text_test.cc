// SPDX-License-Identifier: Apache-2.0
#include "heatsink/spread/copy_text.h"

#include <gtest/gtest.h>

#include <chrono>

namespace heatsink::spread {
namespace {

TEST(CopyText, Kinds) {
  EXPECT_EQ(parse_copy(value_text("abc")).kind, CopyKind::kValue);
  EXPECT_EQ(parse_copy(value_text("abc")).value, "abc");
  EXPECT_EQ(parse_copy("v").value, "");
  EXPECT_EQ(parse_copy(kNoneText).kind, CopyKind::kNone);
  EXPECT_EQ(parse_copy(kTombstoneText).kind, CopyKind::kTombstone);
  EXPECT_EQ(parse_copy(lease_text(0xdeadbeef)).kind, CopyKind::kLease);
  EXPECT_EQ(lease_text(0xdeadbeef), "l00000000deadbeef");
}

TEST(CopyText, AValueMayLookLikeAnything) {
  for (const char* value : {"", "n", "t", "l0123456789abcdef", "v"}) {
    const std::string text = value_text(value);
    EXPECT_EQ(parse_copy(text).kind, CopyKind::kValue);
    EXPECT_EQ(parse_copy(text).value, value);
  }
}

TEST(CopyText, TextOfOthersIsNotServed) {
  for (const char* text : {"", "x", "nn", "tt", "l", "l0123456789abcde", "l0123456789abcdeg",
                           "l0123456789abcdef0", "hello"}) {
    EXPECT_EQ(parse_copy(text).kind, CopyKind::kUnknown) << text;
    EXPECT_EQ(after_copy(parse_copy(text).kind), AfterCopy::kAskKey);
  }
}

TEST(CopyText, WhatAReaderDoes) {
  EXPECT_EQ(after_copy(CopyKind::kValue), AfterCopy::kServe);
  EXPECT_EQ(after_copy(CopyKind::kNone), AfterCopy::kServeNone);
  EXPECT_EQ(after_copy(CopyKind::kLease), AfterCopy::kAskKey);
  EXPECT_EQ(after_copy(CopyKind::kTombstone), AfterCopy::kAskKey);
}

TEST(CopyText, JitterOnlyShortens) {
  constexpr Nanos kTtl = std::chrono::seconds(1);
  for (const std::uint64_t random : {std::uint64_t{0}, std::uint64_t{1} << 40U, UINT64_MAX}) {
    EXPECT_LE(jittered(kTtl, random), kTtl);
    EXPECT_GE(jittered(kTtl, random), kTtl * 3 / 4);
  }
  EXPECT_NE(jittered(kTtl, 5), jittered(kTtl, 500'000));
  EXPECT_EQ(jittered(Nanos(2), 7), Nanos(2));
}

}  // namespace
}  // namespace heatsink::spread
