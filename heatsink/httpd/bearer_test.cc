// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/bearer.h"

#include <gtest/gtest.h>

namespace heatsink::httpd {
namespace {

TEST(Bearer, TheTokenAndNothingElse) {
  EXPECT_TRUE(bears_token("Bearer s3cret", "s3cret"));
  EXPECT_TRUE(bears_token("bearer s3cret", "s3cret"));
  EXPECT_FALSE(bears_token(std::nullopt, "s3cret"));
  for (const char* bad : {"", "Bearer", "Bearer ", "s3cret", "Basic s3cret", "Bearer s3cre",
                          "Bearer s3crets", "Bearer  s3cret", "Bearer S3cret"})
    EXPECT_FALSE(bears_token(bad, "s3cret")) << bad;
}

}  // namespace
}  // namespace heatsink::httpd
