// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/missing_copy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::copies {
namespace {

using detect::Temperature;
using testing::AnyOf;
using testing::HasSubstr;
using testing::Not;

TEST(MissingCopy, TheFirstReasonThatHoldsIsSaid) {
  MissingCopy key{.enabled = false, .is_off = true, .is_known = true, .mark = "value too large"};
  EXPECT_EQ(why_no_copy(key), "cache.enabled is false");
  key.enabled = true;
  EXPECT_EQ(why_no_copy(key), "its level is off");
  key.is_off = false;
  EXPECT_EQ(why_no_copy(key), "value too large");
  key.mark.clear();
  key.problem = "no tracking connection";
  EXPECT_EQ(why_no_copy(key), "no tracking connection");
  key.problem.clear();
  EXPECT_EQ(why_no_copy(key), "no read since its last change");
}

TEST(MissingCopy, OfAKeyWithoutAnEntryItsTrafficDecides) {
  MissingCopy key;
  EXPECT_EQ(why_no_copy(key), "its reads have not earned one");
  key.earns = false;
  EXPECT_EQ(why_no_copy(key), "it is not hot");
  key.temperature = Temperature::kWriteHot;
  EXPECT_EQ(why_no_copy(key), "it has too many writes for its reads");
  key.temperature = Temperature::kHot;
  EXPECT_EQ(why_no_copy(key), "cache.maximum-size is used up");
  key.is_worth_holding = false;
  EXPECT_EQ(why_no_copy(key), "it has too many writes for its reads");
  key.name_cut = true;
  EXPECT_EQ(why_no_copy(key), "its name is too long");
}

// "its reads have not earned one" beside a hit ratio of 98 % would deny what stands there.
TEST(MissingCopy, NoNoteDeniesTheHitsBesideIt) {
  for (const Temperature temperature :
       {Temperature::kCold, Temperature::kWarm, Temperature::kHot, Temperature::kWriteHot}) {
    for (int bits = 0; bits < 8; ++bits) {
      const MissingCopy key{.is_known = (bits & 1) != 0,
                            .temperature = temperature,
                            .earns = (bits & 2) != 0,
                            .name_cut = false,
                            .is_worth_holding = (bits & 4) != 0,
                            .hits = 980};
      EXPECT_THAT(why_no_copy(key), Not(AnyOf(HasSubstr("have not"), HasSubstr("not hot"))));
    }
  }
}

}  // namespace
}  // namespace heatsink::copies
