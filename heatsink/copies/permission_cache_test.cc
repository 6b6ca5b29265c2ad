// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/permission_cache.h"

#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

constexpr TimePoint kNever{};

Right right_to(std::uint64_t key, std::uint64_t user = 1, std::uint16_t command = 0) {
  Right right{user, 0, command};
  right.add_key({key});
  return right;
}

class PermissionCacheTest : public testing::Test {
 protected:
  using Answer = PermissionCache::Answer;

  Answer look_up(const Right& right, int ms, TimePoint changed_at = kNever) {
    return permissions_.look_up(right, at(ms), changed_at);
  }
  void allow(const Right& right, int asked_at_ms) {
    permissions_.record({right, at(asked_at_ms)}, true);
  }

  PermissionCache permissions_{Millis(1000)};
};

TEST_F(PermissionCacheTest, NothingIsProvenAtFirst) {
  EXPECT_EQ(look_up(right_to(7), 0), Answer::kUnproven);
}

TEST_F(PermissionCacheTest, AProofIsGoodForItsLifeSinceItWasAsked) {
  allow(right_to(7), 0);
  EXPECT_EQ(look_up(right_to(7), 0), Answer::kProven);
  EXPECT_EQ(look_up(right_to(7), 500), Answer::kProven);
  EXPECT_NE(look_up(right_to(7), 1000), Answer::kUnproven);
  EXPECT_EQ(permissions_.look_up(right_to(7), at(1000) + Nanos(1), kNever), Answer::kUnproven);
}

TEST_F(PermissionCacheTest, ItIsOneUsersCommandAndKey) {
  allow(right_to(7), 0);
  EXPECT_EQ(look_up(right_to(7, 2), 1), Answer::kUnproven);
  EXPECT_EQ(look_up(right_to(7, 1, 1), 1), Answer::kUnproven);
  EXPECT_EQ(look_up(right_to(8), 1), Answer::kUnproven);
}

// One selector of the user must allow all of them.
TEST_F(PermissionCacheTest, SeveralKeysAreARightOfTheirOwn) {
  Right both = right_to(7);
  both.add_key({8});
  allow(right_to(7), 0);
  allow(right_to(8), 0);
  EXPECT_EQ(look_up(both, 1), Answer::kUnproven);
  Right other_way = right_to(8);
  other_way.add_key({7});
  EXPECT_NE(both, other_way);
}

TEST_F(PermissionCacheTest, OneOfManyAsksAgainInTime) {
  allow(right_to(7), 0);
  EXPECT_EQ(look_up(right_to(7), 501), Answer::kAgeing);
  EXPECT_EQ(look_up(right_to(7), 502), Answer::kProven);
  EXPECT_EQ(look_up(right_to(7), 751), Answer::kProven);
  EXPECT_EQ(look_up(right_to(7), 752), Answer::kAgeing) << "no answer came";
  allow(right_to(7), 752);
  EXPECT_EQ(look_up(right_to(7), 1200), Answer::kProven);
}

TEST_F(PermissionCacheTest, ARefusalEndsIt) {
  allow(right_to(7), 0);
  permissions_.record({right_to(8), at(1)}, false);
  EXPECT_EQ(look_up(right_to(7), 2), Answer::kProven);
  permissions_.record({right_to(7), at(1)}, false);
  EXPECT_EQ(look_up(right_to(7), 2), Answer::kUnproven);
}

TEST_F(PermissionCacheTest, AChangeEndsWhatWasAskedThenOrBefore) {
  allow(right_to(7), 10);
  EXPECT_EQ(look_up(right_to(7), 20, at(9)), Answer::kProven);
  EXPECT_EQ(look_up(right_to(7), 20, at(10)), Answer::kUnproven);
  allow(right_to(7), 11);
  EXPECT_EQ(look_up(right_to(7), 20, at(10)), Answer::kProven);
}

TEST_F(PermissionCacheTest, AnAnswerThatComesLateMakesNothingOlder) {
  allow(right_to(7), 500);
  allow(right_to(7), 0);
  EXPECT_EQ(look_up(right_to(7), 900), Answer::kProven);
}

TEST_F(PermissionCacheTest, RightsInOnePlaceTakeTurns) {
  for (std::uint64_t key = 0; key < 100'000; ++key) {
    allow(right_to(key), 0);
    ASSERT_EQ(look_up(right_to(key), 1), Answer::kProven);
  }
  EXPECT_EQ(look_up(right_to(1), 1), Answer::kUnproven) << "the table is bounded";
}

}  // namespace
}  // namespace heatsink::copies
