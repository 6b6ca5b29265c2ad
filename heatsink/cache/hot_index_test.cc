// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/hot_index.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <unordered_map>
#include <vector>

namespace heatsink::cache {
namespace {

class HotIndexTest : public testing::Test {
 protected:
  Entry& add(std::uint64_t hash) {
    entries_.push_back(std::make_unique<Entry>(std::to_string(hash), 0, NameHash{hash},
                                               ConsistencyPolicy{}, TimePoint{}));
    index_.add(*entries_.back());
    return *entries_.back();
  }
  const Entry* find(std::uint64_t hash) const {
    return index_.find(KeyHash{hash},
                       [&](const Entry& entry) { return entry.hash().value == hash; });
  }

  Epochs epochs_;
  std::vector<std::unique_ptr<Entry>> entries_;
  HotIndex index_{epochs_};
};

TEST_F(HotIndexTest, FindsNothingInAnEmptyOne) { EXPECT_EQ(find(0), nullptr); }

// All hashes choose the same bucket and have the same tag, so that most lie far behind it.
TEST_F(HotIndexTest, AFullBucketSendsLookUpsOn) {
  constexpr std::uint64_t kMany = 25;
  const auto hash = [](std::uint64_t i) { return i << 20; };
  for (std::uint64_t i = 0; i < kMany; ++i) add(hash(i));
  for (std::uint64_t i = 0; i < kMany; ++i) ASSERT_EQ(find(hash(i)), entries_[i].get()) << i;
  EXPECT_EQ(find(hash(kMany)), nullptr);
  for (std::uint64_t i = 0; i < 10; ++i) index_.remove(*entries_[i]);  // the first bucket, and more
  for (std::uint64_t i = 0; i < 10; ++i) EXPECT_EQ(find(hash(i)), nullptr);
  for (std::uint64_t i = 10; i < kMany; ++i) EXPECT_EQ(find(hash(i)), entries_[i].get()) << i;
  const Entry& again = add(hash(0));
  EXPECT_EQ(find(hash(0)), &again);
}

// More than a byte can count.
TEST_F(HotIndexTest, HundredsMayHaveOneBucket) {
  for (std::uint64_t i = 0; i < 600; ++i) add(i << 20);
  for (std::uint64_t i = 0; i < 600; i += 2) index_.remove(*entries_[i]);
  for (std::uint64_t i = 0; i < 600; ++i)
    ASSERT_EQ(find(i << 20), i % 2 == 0 ? nullptr : entries_[i].get()) << i;
  EXPECT_EQ(find(std::uint64_t{1000} << 20), nullptr);
}

TEST_F(HotIndexTest, TagsOfAllValuesAreFound) {
  for (std::uint64_t tag = 0; tag < 256; ++tag) add(tag << 56);
  for (std::uint64_t tag = 0; tag < 256; ++tag) ASSERT_EQ(find(tag << 56), entries_[tag].get());
}

TEST_F(HotIndexTest, AgreesWithAMapWhateverComesAndGoes) {
  std::mt19937_64 random(7);
  std::unordered_map<std::uint64_t, Entry*> expected;
  for (int step = 0; step < 40'000; ++step) {
    const std::uint64_t hash = hash_name(std::to_string(random() % 3000), 1).value;
    const auto found = expected.find(hash);
    ASSERT_EQ(find(hash), found == expected.end() ? nullptr : found->second);
    if (found == expected.end()) {
      expected.emplace(hash, &add(hash));
    } else {
      index_.remove(*found->second);
      expected.erase(found);
    }
  }
}

TEST_F(HotIndexTest, TakesAtMost37BytesPerEntry) {
  for (std::uint64_t i = 0; i < 65'536; ++i) {
    add(hash_name(std::to_string(i), 1).value);
    if (i < 64) continue;
    ASSERT_LE(index_.bytes(), 37 * (i + 1));
  }
}

}  // namespace
}  // namespace heatsink::cache
