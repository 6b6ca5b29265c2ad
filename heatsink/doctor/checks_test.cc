// SPDX-License-Identifier: Apache-2.0
#include "heatsink/doctor/checks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

namespace heatsink::doctor {
namespace {

TEST(Checks, EachHasACodeOfItsOwnAndSaysWhatItChecks) {
  std::set<std::string_view> codes;
  for (const Check& check : checks()) {
    EXPECT_TRUE(codes.insert(check.code).second) << check.code;
    EXPECT_TRUE(check.help.ends_with('.')) << check.code;
    EXPECT_NE(check.run, nullptr) << check.code;
    EXPECT_EQ(find_check(check.code), &check);
  }
  EXPECT_GT(codes.size(), 30U);
  EXPECT_EQ(find_check("none"), nullptr);
}

}  // namespace
}  // namespace heatsink::doctor
