// SPDX-License-Identifier: Apache-2.0
#include "heatsink/tui/columns.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace heatsink::tui {
namespace {

std::optional<int> with(const char* text) {
  setenv("COLUMNS", text, 1);  // NOLINT(concurrency-mt-unsafe)
  const std::optional<int> out = columns_of_environment();
  unsetenv("COLUMNS");  // NOLINT(concurrency-mt-unsafe)
  return out;
}

TEST(Columns, OfTheEnvironmentAreWithinLimits) {
  EXPECT_EQ(with("132"), 132);
  EXPECT_EQ(with("1"), kColumnsMin);
  EXPECT_EQ(with("99999"), kColumnsMax);
  EXPECT_EQ(with("99999999999999999999"), std::nullopt);
  EXPECT_EQ(with("wide"), std::nullopt);
  EXPECT_EQ(with(""), std::nullopt);
  EXPECT_EQ(columns_of_environment(), std::nullopt);
}

}  // namespace
}  // namespace heatsink::tui
