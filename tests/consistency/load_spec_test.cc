// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/load_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::consistency {
namespace {

TEST(LoadSpec, WordsAndDefaults) {
  const Result<LoadSpec> spec = parse_load_spec("via=2,depth=16,think-us=50");
  ASSERT_TRUE(spec.ok());
  EXPECT_EQ(spec->via, 2U);
  EXPECT_EQ(spec->depth, 16U);
  EXPECT_EQ(spec->think_us, 50U);
  EXPECT_EQ(spec->count, 1U);
}

TEST(LoadSpec, NamesWhatItDoesNotUnderstand) {
  for (const char* text : {"nonsense", "set=", "set=x", "depth=4,colour=1", "keys=0"}) {
    EXPECT_FALSE(parse_load_spec(text).ok()) << text;
  }
  EXPECT_THAT(parse_load_spec("depth=4,colour=1").error().message, testing::HasSubstr("colour=1"));
}

}  // namespace
}  // namespace heatsink::consistency
