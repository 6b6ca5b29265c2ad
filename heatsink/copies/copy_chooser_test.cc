// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_chooser.h"

#include <gtest/gtest.h>

#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/base/random.h"
#include "heatsink/cache/cache.h"

namespace heatsink::copies {
namespace {

KeyHash key_of(std::uint64_t number) { return KeyHash{Random(number).next()}; }

// One worker and the keeper, with room for 1000 keys.
class CopyChooserTest : public testing::Test {
 protected:
  void read(std::uint64_t number) { worker_.saw(key_of(number), false); }
  void tell_keeper() { chooser_.play(worker_.take_sampled(), TimePoint{}); }
  // Reads of this key until it earns a copy; 0: it does not within ten.
  int reads_until_copy(std::uint64_t number) {
    for (int i = 1; i <= 10; ++i) {
      if (worker_.earns_copy(key_of(number))) return i;
    }
    return 0;
  }

  cache::Epochs epochs_;
  cache::HotTable table_{{.entries_max = 1000}, epochs_};
  admit::AdmissionState state_{1000};
  admit::CopyAdmission worker_{state_};
  CopyChooser chooser_{{.copies_max = 1000}, state_, table_};
};

TEST_F(CopyChooserTest, AKeyEarnsACopyWithTheChosenRead) {
  EXPECT_EQ(reads_until_copy(1), static_cast<int>(chooser_.choice().reads));
}

TEST_F(CopyChooserTest, AKeyThatWasAdmittedEarnsItsNextCopyAnew) {
  const int first = reads_until_copy(1);
  worker_.admitted(key_of(1));
  EXPECT_EQ(reads_until_copy(1), first);
}

TEST_F(CopyChooserTest, AWriteOfTheKeyTakesItsReadsAway) {
  EXPECT_FALSE(worker_.earns_copy(key_of(1)));
  worker_.saw(key_of(1), true);
  EXPECT_EQ(reads_until_copy(1), static_cast<int>(chooser_.choice().reads));
}

TEST_F(CopyChooserTest, WithoutRepetitionNoKeyEarnsACopy) {
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    read(i);
    if (i % 1000 == 0) tell_keeper();
  }
  EXPECT_EQ(chooser_.choice().reads, admit::Choice::kNever);
  EXPECT_EQ(reads_until_copy(1), 0);
}

TEST_F(CopyChooserTest, WorkersAndTableFollowTheChoice) {
  // Each key is read eight times in a row, and never again.
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    read(i / 8);
    if (i % 1000 == 0) tell_keeper();
  }
  EXPECT_EQ(chooser_.choice().reads, 1U);
  EXPECT_EQ(reads_until_copy(1'000'000), 1);
  ASSERT_EQ(chooser_.choice().order, admit::EvictionOrder::kClock);
  EXPECT_EQ(table_.order(), admit::EvictionOrder::kClock) << "it begins as SIEVE";
}

TEST_F(CopyChooserTest, TheSampleIsBoundedBetweenTwoCalls) {
  for (std::uint64_t i = 0; i < 10 * admit::CopyAdmission::kSampledMax; ++i) read(i);
  EXPECT_EQ(worker_.take_sampled().size(), admit::CopyAdmission::kSampledMax);
  EXPECT_TRUE(worker_.take_sampled().empty());
}

}  // namespace
}  // namespace heatsink::copies
