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

  Answer find(const Right& right, int ms, TimePoint changed_at = kNever) {
    return permissions_.find(right, at(ms), changed_at);
  }
  void allow(const Right& right, int asked_at_ms) {
    permissions_.store({right, at(asked_at_ms)}, true);
  }

  PermissionCache permissions_{Millis(1000)};
};

TEST_F(PermissionCacheTest, NothingIsProvenAtFirst) {
  EXPECT_EQ(find(right_to(7), 0), Answer::kUnknown);
}

TEST_F(PermissionCacheTest, AProofIsGoodForItsLifeSinceItWasAsked) {
  allow(right_to(7), 0);
  EXPECT_EQ(find(right_to(7), 0), Answer::kGranted);
  EXPECT_EQ(find(right_to(7), 500), Answer::kGranted);
  EXPECT_NE(find(right_to(7), 1000), Answer::kUnknown);
  EXPECT_EQ(permissions_.find(right_to(7), at(1000) + Nanos(1), kNever), Answer::kUnknown);
}

TEST_F(PermissionCacheTest, ItIsOneUsersCommandAndKey) {
  allow(right_to(7), 0);
  EXPECT_EQ(find(right_to(7, 2), 1), Answer::kUnknown);
  EXPECT_EQ(find(right_to(7, 1, 1), 1), Answer::kUnknown);
  EXPECT_EQ(find(right_to(8), 1), Answer::kUnknown);
}

// One selector must allow all of them.
TEST_F(PermissionCacheTest, SeveralKeysAreARightOfTheirOwn) {
  Right both = right_to(7);
  both.add_key({8});
  allow(right_to(7), 0);
  allow(right_to(8), 0);
  EXPECT_EQ(find(both, 1), Answer::kUnknown);
  Right other_way = right_to(8);
  other_way.add_key({7});
  EXPECT_NE(both, other_way);
}

TEST_F(PermissionCacheTest, OneOfManyAsksAgainInTime) {
  allow(right_to(7), 0);
  EXPECT_EQ(find(right_to(7), 501), Answer::kAgeing);
  EXPECT_EQ(find(right_to(7), 502), Answer::kGranted);
  EXPECT_EQ(find(right_to(7), 751), Answer::kGranted);
  EXPECT_EQ(find(right_to(7), 752), Answer::kAgeing) << "no answer came";
  allow(right_to(7), 752);
  EXPECT_EQ(find(right_to(7), 1200), Answer::kGranted);
}

TEST_F(PermissionCacheTest, ARefusalEndsIt) {
  allow(right_to(7), 0);
  permissions_.store({right_to(8), at(1)}, false);
  EXPECT_EQ(find(right_to(7), 2), Answer::kGranted);
  permissions_.store({right_to(7), at(1)}, false);
  EXPECT_EQ(find(right_to(7), 2), Answer::kUnknown);
}

TEST_F(PermissionCacheTest, AChangeEndsWhatWasAskedThenOrBefore) {
  allow(right_to(7), 10);
  EXPECT_EQ(find(right_to(7), 20, at(9)), Answer::kGranted);
  EXPECT_EQ(find(right_to(7), 20, at(10)), Answer::kUnknown);
  allow(right_to(7), 11);
  EXPECT_EQ(find(right_to(7), 20, at(10)), Answer::kGranted);
}

TEST_F(PermissionCacheTest, AnAnswerThatComesLateMakesNothingOlder) {
  allow(right_to(7), 500);
  allow(right_to(7), 0);
  EXPECT_EQ(find(right_to(7), 900), Answer::kGranted);
}

TEST_F(PermissionCacheTest, RightsInOnePlaceTakeTurns) {
  for (std::uint64_t key = 0; key < 100'000; ++key) {
    allow(right_to(key), 0);
    ASSERT_EQ(find(right_to(key), 1), Answer::kGranted);
  }
  EXPECT_EQ(find(right_to(1), 1), Answer::kUnknown) << "the table is bounded";
}

}  // namespace
}  // namespace heatsink::copies
