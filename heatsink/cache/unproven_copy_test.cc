// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/unproven_copy.h"

#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "heatsink/cache/moments_for_test.h"

namespace heatsink::cache {
namespace {

// A key whose rule keeps unproven copies, and its copy: filled at 10 s, valid until 20 s.
class UnprovenCopy : public testing::Test {
 protected:
  UnprovenCopy() { table_.promote("k", 0, kHash, kName, TimePoint{}, {.keeps_unproven = true}); }
  void fill() {
    auto copy = std::make_unique<Copy>();
    copy->fill_sent_at = at(10'000);
    copy->deadline = at(20'000);
    copy->reply = "$1\r\nv\r\n";
    table_.note_shown(kHash, at(10'000));
    ASSERT_TRUE(table_.insert(kHash, std::move(copy)));
  }
  const Copy* found(int now_ms, Nanos age_max = std::chrono::hours(1)) {
    return unproven_copy(*table_.entry(kHash), Read{}, at(now_ms), age_max);
  }

  static constexpr NameHash kName{77};
  static constexpr KeyHash kHash{77};  // of database 0
  Epochs epochs_;
  HotTable table_{HotTableLimits{}, epochs_};
};

TEST_F(UnprovenCopy, IsGivenUntilItsDeadlineOrItsAge) {
  EXPECT_EQ(found(10'500), nullptr);
  fill();
  ASSERT_NE(found(19'999), nullptr);
  EXPECT_EQ(found(19'999)->reply, "$1\r\nv\r\n");
  EXPECT_EQ(found(20'000), nullptr);
  EXPECT_NE(found(12'000, Millis(2'000)), nullptr);
  EXPECT_EQ(found(12'000, Millis(1'999)), nullptr);
}

TEST_F(UnprovenCopy, OutlivesTheProofAndAnInvalidationButNoFlush) {
  table_.drop_name("k", kName);
  EXPECT_EQ(table_.entry(kHash)->fence(), TimePoint{}) << "there is no copy yet";
  fill();
  table_.drop_proof_dependent();
  table_.drop_name("k", kName);
  EXPECT_EQ(table_.entry(kHash)->fence(), at(10'000));
  EXPECT_NE(found(10'500), nullptr);
  table_.drop_all();
  EXPECT_EQ(found(10'500), nullptr);
}

TEST_F(UnprovenCopy, OfOtherRulesThereIsNoneAfterAnInvalidation) {
  table_.demote(kHash);
  table_.promote("k", 0, kHash, kName, TimePoint{}, {});
  fill();
  table_.drop_name("k", kName);
  EXPECT_EQ(found(10'500), nullptr);
}

}  // namespace
}  // namespace heatsink::cache
