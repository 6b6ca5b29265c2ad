// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admit/costed_chooser.h"

#include <gtest/gtest.h>

#include <vector>

#include "heatsink/base/random.h"

namespace heatsink::admit {
namespace {

// Room for 512 keys, so all keys are in the sample.
class CostedChooserTest : public testing::Test {
 protected:
  // 20 000 reads in a second, each key so many times in a row.
  void play_a_second(std::uint64_t reads_of_key) {
    std::vector<SampledAccess> reads;
    for (int i = 0; i < 20'000; ++i, ++read_)
      reads.push_back({KeyHash{Random(read_ / reads_of_key).next()}, false});
    now_ += std::chrono::seconds(1);
    chooser_.play(reads, {}, now_);
    chooser_.tick({}, now_);
  }

  AdmissionState state_{512};
  CostedChooser chooser_{{.copies_max = 512}, state_};
  std::uint64_t read_ = 0;
  TimePoint now_{std::chrono::seconds(1)};
};

TEST_F(CostedChooserTest, CopiesOfKeysThatAreReadTwicePayOnlyForLoneCommands) {
  for (int i = 0; i < 5; ++i) play_a_second(3);
  EXPECT_EQ(chooser_.choice().reads, 1U);
  EXPECT_NEAR(chooser_.saved(), 1.0 / 3, 0.02) << "two hits of three reads, less a fill";
  chooser_.set_traffic(guessed_shape(20));
  for (int i = 0; i < 5; ++i) play_a_second(3);
  EXPECT_EQ(chooser_.choice().reads, Choice::kNever);
  EXPECT_EQ(chooser_.saved(), 0);
}

TEST_F(CostedChooserTest, ReadersKnowWhatPays) {
  EXPECT_EQ(state_.reads_to_pay(), 2U) << "a command, and the end";
  chooser_.set_traffic(guessed_shape(20));
  EXPECT_EQ(state_.reads_to_pay(), chooser_.reads_to_pay());
  EXPECT_GT(chooser_.reads_to_pay(), 10U);
}

TEST_F(CostedChooserTest, TheMoreReadsTheMoreFillsShareAWakeUp) {
  chooser_.set_traffic(guessed_shape(20));
  const double alone = chooser_.costs().fill;
  for (int i = 0; i < 3; ++i) play_a_second(40);
  EXPECT_NEAR(chooser_.traffic().reads_together, 1000, 1) << "20 000/s in 50 ms";
  EXPECT_LT(chooser_.costs().fill, alone / 3);
}

TEST_F(CostedChooserTest, PricesDecide) {
  for (int i = 0; i < 5; ++i) play_a_second(3);
  ASSERT_EQ(chooser_.choice().reads, 1U);
  chooser_.set_prices({.server = {.command = 1e-6, .wake_up = 0, .fill = 4e-6, .push = 1e-6}});
  for (int i = 0; i < 5; ++i) play_a_second(3);
  EXPECT_EQ(chooser_.choice().reads, Choice::kNever) << "a fill costs three reads";
}

}  // namespace
}  // namespace heatsink::admit
