// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/dry_run_lines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::app {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(DryRunLines, SayWhatWouldHaveMatched) {
  const auto lines = dry_run_lines(R"({"match": "cart:*", "from": "2026-11-29T10:00:00.000Z",
      "to": "2026-11-29T11:00:00.000Z", "keys_at_least": 1, "requests_at_least": 1200,
      "requests_at_most": 2500, "requests_all": 10000, "kept_keys": 2, "kept_requests": 70,
      "undecided_keys": 0, "whole": true, "keys": [
      {"name": "cart:1", "requests": 1200, "peak_rate": 30, "rule": "", "applies": true},
      {"name": "cart:\u001b[2J", "requests": 50, "peak_rate": 2, "rule": "cart:x*",
       "applies": false}]})");
  ASSERT_TRUE(lines.ok());
  EXPECT_THAT(*lines, ElementsAre(HasSubstr("cart:* would have matched at least 1 key, with 1.2"),
                                  HasSubstr("2 keys that match keep a more specific rule (70"),
                                  HasSubstr("peak/s"), HasSubstr("cart:1"),
                                  HasSubstr("cart:\\x1b[2J  (keeps the rule cart:x*)")));
  EXPECT_THAT(lines->front(), HasSubstr("(at least 12"));
}

TEST(DryRunLines, AnotherAnswerIsRefused) {
  for (const char* wrong : {"", "[]", "{}", R"({"keys": 1})"})
    EXPECT_FALSE(dry_run_lines(wrong).ok()) << wrong;
  EXPECT_TRUE(dry_run_lines(R"({"keys": [1]})").ok());
}

}  // namespace
}  // namespace heatsink::app
