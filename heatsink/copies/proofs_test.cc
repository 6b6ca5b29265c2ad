// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/proofs.h"

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

class ProofsTest : public testing::Test {
 protected:
  using Word = Proofs::Word;

  Word ask(const Right& right, int ms, TimePoint changed_at = kNever) {
    return proofs_.ask(right, at(ms), changed_at);
  }
  void allow(const Right& right, int asked_at_ms) { proofs_.heard({right, at(asked_at_ms)}, true); }

  Proofs proofs_{Millis(1000)};
};

TEST_F(ProofsTest, NothingIsProvenAtFirst) { EXPECT_EQ(ask(right_to(7), 0), Word::kUnproven); }

TEST_F(ProofsTest, AProofIsGoodForItsLifeSinceItWasAsked) {
  allow(right_to(7), 0);
  EXPECT_EQ(ask(right_to(7), 0), Word::kProven);
  EXPECT_EQ(ask(right_to(7), 500), Word::kProven);
  EXPECT_NE(ask(right_to(7), 1000), Word::kUnproven);
  EXPECT_EQ(proofs_.ask(right_to(7), at(1000) + Nanos(1), kNever), Word::kUnproven);
}

TEST_F(ProofsTest, ItIsOneUsersCommandAndKey) {
  allow(right_to(7), 0);
  EXPECT_EQ(ask(right_to(7, 2), 1), Word::kUnproven);
  EXPECT_EQ(ask(right_to(7, 1, 1), 1), Word::kUnproven);
  EXPECT_EQ(ask(right_to(8), 1), Word::kUnproven);
}

// One selector must allow all of them.
TEST_F(ProofsTest, SeveralKeysAreARightOfTheirOwn) {
  Right both = right_to(7);
  both.add_key({8});
  allow(right_to(7), 0);
  allow(right_to(8), 0);
  EXPECT_EQ(ask(both, 1), Word::kUnproven);
  Right other_way = right_to(8);
  other_way.add_key({7});
  EXPECT_NE(both, other_way);
}

TEST_F(ProofsTest, OneOfManyAsksAgainInTime) {
  allow(right_to(7), 0);
  EXPECT_EQ(ask(right_to(7), 501), Word::kAgeing);
  EXPECT_EQ(ask(right_to(7), 502), Word::kProven);
  EXPECT_EQ(ask(right_to(7), 751), Word::kProven);
  EXPECT_EQ(ask(right_to(7), 752), Word::kAgeing) << "no answer came";
  allow(right_to(7), 752);
  EXPECT_EQ(ask(right_to(7), 1200), Word::kProven);
}

TEST_F(ProofsTest, ARefusalEndsIt) {
  allow(right_to(7), 0);
  proofs_.heard({right_to(8), at(1)}, false);
  EXPECT_EQ(ask(right_to(7), 2), Word::kProven);
  proofs_.heard({right_to(7), at(1)}, false);
  EXPECT_EQ(ask(right_to(7), 2), Word::kUnproven);
}

TEST_F(ProofsTest, AChangeEndsWhatWasAskedThenOrBefore) {
  allow(right_to(7), 10);
  EXPECT_EQ(ask(right_to(7), 20, at(9)), Word::kProven);
  EXPECT_EQ(ask(right_to(7), 20, at(10)), Word::kUnproven);
  allow(right_to(7), 11);
  EXPECT_EQ(ask(right_to(7), 20, at(10)), Word::kProven);
}

TEST_F(ProofsTest, AnAnswerThatComesLateMakesNothingOlder) {
  allow(right_to(7), 500);
  allow(right_to(7), 0);
  EXPECT_EQ(ask(right_to(7), 900), Word::kProven);
}

TEST_F(ProofsTest, RightsInOnePlaceTakeTurns) {
  for (std::uint64_t key = 0; key < 100'000; ++key) {
    allow(right_to(key), 0);
    ASSERT_EQ(ask(right_to(key), 1), Word::kProven);
  }
  EXPECT_EQ(ask(right_to(1), 1), Word::kUnproven) << "the table is bounded";
}

}  // namespace
}  // namespace heatsink::copies
