// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/result.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace heatsink {
namespace {

TEST(Result, HasAValueOrAnError) {
  const Result<int> good = 7;
  EXPECT_TRUE(good.ok());
  EXPECT_EQ(*good, 7);
  const Result<int> bad = Error{ErrorCode::kNotFound, "there is none"};
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.error().message, "there is none");
}

TEST(Result, AValueCanBeMovedOut) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> value = std::move(result).value();
  EXPECT_EQ(*value, 7);
}

TEST(ResultDeathTest, AValueThatIsNotThereEndsTheProcessWithTheError) {
  Result<std::string> bad = Error{ErrorCode::kNotFound, "unknown option 'hotqps'"};
  EXPECT_DEATH(static_cast<void>(bad->size()), "unknown option 'hotqps'");
  EXPECT_DEATH(static_cast<void>(*bad), "unknown option 'hotqps'");
  EXPECT_DEATH(static_cast<void>(std::move(bad).value()), "unknown option 'hotqps'");
}

}  // namespace
}  // namespace heatsink
