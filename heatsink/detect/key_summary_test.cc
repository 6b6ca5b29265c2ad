// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/key_summary.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heatsink/detect/key_rows_for_test.h"

namespace heatsink::detect {
namespace {

// Rows with keys of 10, 20 ... 50 accesses; the last two have equal counts.
class KeySummary : public ::testing::Test {
 protected:
  KeySummary() {
    const std::uint32_t counts[] = {10, 20, 30, 40, 50, 50};
    for (std::uint32_t key = 0; key < 6; ++key) {
      put(rows, key, 100 - key, counts[key]);
      names.store(rows, key, "key " + std::to_string(key));
    }
  }

  Summary summary(std::size_t keys_max, CountLevel floor, std::uint64_t absent_max = 0) {
    Summary out;
    out.requests = requests;
    summarize({.rows = rows,
               .names = names,
               .tallies = tallies,
               .sample = {1, 1},
               .absent_max = absent_max},
              keys_max, floor, out);
    return out;
  }

  static std::vector<std::string> keys_of(const Summary& summary) {
    std::vector<std::string> out;
    out.reserve(summary.keys.size());
    for (const KeyCount& each : summary.keys) out.push_back(each.key);
    return out;
  }

  std::uint64_t requests = 1000;
  KeyRows rows{8, Dimension::kRequests};  // two are empty
  KeyNames names{1024};
  KeyTallies tallies{nullptr, 0};
};

TEST_F(KeySummary, BusiestFirstAndEqualOnesByHash) {
  const Summary all = summary(10, 0);
  EXPECT_EQ(keys_of(all),
            (std::vector<std::string>{"key 5", "key 4", "key 3", "key 2", "key 1", "key 0"}));
  EXPECT_EQ(all.keys[0].hash.value, 95U);
  EXPECT_EQ(all.keys[0].low, 50U);
  EXPECT_EQ(all.keys[0].high, 50U);
  EXPECT_EQ(all.absent_max, 0U);
}

TEST_F(KeySummary, AKeyThatIsLeftOutBoundsTheAbsentOnes) {
  const Summary two = summary(2, 0, 7);
  EXPECT_EQ(keys_of(two), (std::vector<std::string>{"key 5", "key 4"}));
  EXPECT_EQ(two.absent_max, 40U);
}

TEST_F(KeySummary, KeysBelowTheFloorAreLeftOut) {
  const Summary above = summary(10, 40, 7);
  EXPECT_EQ(keys_of(above), (std::vector<std::string>{"key 5", "key 4", "key 3"}));
  EXPECT_EQ(above.absent_max, 39U);
  EXPECT_EQ(summary(10, 0, 7).absent_max, 7U);
}

TEST_F(KeySummary, AccessesBeforeTheAdmissionRaiseTheUpperBoundOnly) {
  rows.counts(0).missed_now = 60;
  const Summary all = summary(10, 0);
  EXPECT_EQ(all.keys[0].key, "key 0");
  EXPECT_EQ(all.keys[0].low, 10U);
  EXPECT_EQ(all.keys[0].high, 70U);
}

TEST_F(KeySummary, NoKeyHasMoreThanAllTogether) {
  rows.counts(0).missed_now = 5000;
  const Summary all = summary(10, 0, 9999);
  EXPECT_EQ(all.keys[0].high, 1000U);
  EXPECT_EQ(all.absent_max, 1000U);
}

TEST_F(KeySummary, ASaturatedCountBoundsNothing) {
  requests = std::uint64_t{1} << 40;
  rows.counts(0).missed_last = kMissedLastMax;
  rows.counts(1).missed_now = UINT32_MAX;
  rows.counts(2).count[0] = UINT32_MAX;
  const Summary all = summary(10, 0);
  EXPECT_EQ(keys_of(all)[3], "key 5") << "the first three are saturated";
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(all.keys[i].high, requests);
}

TEST_F(KeySummary, AccessesThatHaveLeftTheWindowDoNotCount) {
  rows.move({.turn = 10, .slot = 0}, UINT64_MAX);
  EXPECT_TRUE(summary(10, 0).keys.empty());
}

}  // namespace
}  // namespace heatsink::detect
