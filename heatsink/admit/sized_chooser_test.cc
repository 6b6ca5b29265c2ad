// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/sized_chooser.h"

#include <gtest/gtest.h>

#include <vector>

#include "heatsink/admit/copy_admission.h"
#include "heatsink/base/random.h"

namespace heatsink::admit {
namespace {

KeyHash numbered(std::uint64_t number) { return KeyHash{Random(number).next()}; }

// A cache for up to 65 536 copies.
class SizedChooserTest : public testing::Test {
 protected:
  void tick(const SizedChooser::Held& held, std::size_t useful) { chooser_.tick(held, useful); }

  AdmissionState state_{65'536};
  CopyAdmission reader_{state_};
  SizedChooser chooser_{{.copies_at_first = 1024, .first = {.reads = 1}}, state_};
};

TEST_F(SizedChooserTest, ReadersFollowTheFirstChoiceAtOnce) {
  EXPECT_TRUE(reader_.earns_copy(numbered(1)));
}

TEST_F(SizedChooserTest, PlaysNoMoreCopiesThanAreUseful) {
  EXPECT_EQ(chooser_.copies(), 1024U);
  tick({}, 10'000);
  EXPECT_EQ(chooser_.copies(), 10'000U);
  tick({}, 1'000'000);
  EXPECT_EQ(chooser_.copies(), 65'536U);
  tick({}, 1024);
  EXPECT_EQ(chooser_.copies(), 1024U);
  tick({.copies = 20'000}, 1024);
  EXPECT_EQ(chooser_.copies(), 1024U) << "what nobody reads does not count";
}

TEST_F(SizedChooserTest, PlaysNoMoreCopiesThanTheBytesHaveRoomFor) {
  tick({}, 50'000);
  tick({.copies = 3000, .evicted_for_bytes = 1}, 50'000);
  EXPECT_EQ(chooser_.copies(), 3000U);
  tick({.copies = 1, .evicted_for_bytes = 2}, 50'000);
  EXPECT_EQ(chooser_.copies(), 256U);
  tick({.copies = 600, .evicted_for_bytes = 2}, 50'000);
  EXPECT_EQ(chooser_.copies(), 600U) << "more fit than it seemed";
}

TEST_F(SizedChooserTest, KeepsTheChoiceWhenTheSizeChanges) {
  std::vector<SampledAccess> unique;
  for (std::uint64_t i = 0; i < 100'000; ++i) unique.push_back({numbered(i), false});
  chooser_.play(unique, {}, TimePoint{});
  ASSERT_EQ(chooser_.choice().reads, Choice::kNever);
  EXPECT_FALSE(reader_.earns_copy(numbered(1)));
  tick({}, 10'000);
  EXPECT_EQ(chooser_.choice().reads, Choice::kNever);
  EXPECT_FALSE(reader_.earns_copy(numbered(1)));
}

// Nothing is known yet, and a wrong guess would cost much.
TEST_F(SizedChooserTest, WhereCopiesAreDearTheFirstReadsEarnNoneBeforeTheFirstDecision) {
  const Costs dear{.fill = 4, .end = 7.5, .reads_to_pay = 12};
  chooser_.set_costs(dear);
  EXPECT_FALSE(reader_.earns_copy(numbered(1)));
  EXPECT_EQ(reader_.reads_to_pay(), 12U);
  tick({}, 10'000);
  EXPECT_FALSE(reader_.earns_copy(numbered(1)));
  chooser_.set_costs({});
  EXPECT_TRUE(reader_.earns_copy(numbered(1)));
}

TEST_F(SizedChooserTest, CostsDoNotUndoADecision) {
  std::vector<SampledAccess> often;
  for (std::uint64_t i = 0; i < 100'000; ++i) often.push_back({numbered(i % 100), false});
  chooser_.play(often, {}, TimePoint{});
  chooser_.set_costs({.fill = 4, .end = 7.5, .reads_to_pay = 12});
  EXPECT_NE(chooser_.choice().reads, Choice::kNever);
}

}  // namespace
}  // namespace heatsink::admit
