// SPDX-License-Identifier: Apache-2.0
#include "heatsink/heat/identities.h"

#include <gtest/gtest.h>

namespace heatsink::heat {
namespace {

TEST(Identities, OneNumberForEachNameKindAndDatabase) {
  Identities identities(10);
  const Identity key{Kind::kKey, 0, false, "a"};
  const auto number = identities.number_of(key);
  EXPECT_EQ(identities.number_of(key), number);
  EXPECT_NE(identities.number_of({Kind::kTemplate, 0, false, "a"}), number);
  EXPECT_NE(identities.number_of({Kind::kKey, 1, false, "a"}), number);
  EXPECT_NE(identities.number_of({Kind::kKey, 0, true, "a"}), number);
  EXPECT_EQ(identities.size(), 4U);
  EXPECT_EQ(identities[*number], key);
}

TEST(Identities, AFullTableTakesNoNewNameUntilOneIsFreed) {
  Identities identities(2);
  const auto first = identities.number_of({Kind::kKey, 0, false, "a"});
  ASSERT_TRUE(identities.number_of({Kind::kKey, 0, false, "b"}));
  EXPECT_FALSE(identities.number_of({Kind::kKey, 0, false, "c"}));
  identities.free(*first);
  EXPECT_FALSE(identities.is_used(*first));
  EXPECT_EQ(identities.number_of({Kind::kKey, 0, false, "c"}), first);
  EXPECT_EQ(identities.size(), 2U);
}

TEST(Identities, BytesFollowTheNames) {
  Identities identities(2);
  const auto number = identities.number_of({Kind::kKey, 0, false, std::string(200, 'x')});
  EXPECT_GE(identities.bytes(), 400U);
  identities.free(*number);
  EXPECT_EQ(identities.bytes(), 0U);
}

}  // namespace
}  // namespace heatsink::heat
