// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/statistic_form.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/distributed/summary_for_test.h"

namespace heatsink::distributed {
namespace {

const std::string kSlot5 = "\x05";

RC_GTEST_PROP(StatisticForm, ReadsBackWhatWasWritten, (const std::vector<std::int64_t>& values)) {
  RC_PRE(!values.empty());
  const Result<Slot> slot = decode_slot(kSlot5 + encode_part(summary_of(values)));
  RC_ASSERT(slot.ok());
  RC_ASSERT(slot->number == 5);
  RC_ASSERT(slot->summary == summary_of(values));
}

TEST(StatisticForm, AddsUpParts) {
  const auto slot = decode_slot(kSlot5 + encode_part(summary_of({1, 2})) +
                                encode_part(summary_of({-3, INT64_MAX})));
  ASSERT_TRUE(slot.ok());
  EXPECT_EQ(slot->summary, summary_of({1, 2, -3, INT64_MAX}));
}

TEST(StatisticForm, ASlotWithoutPartsIsEmpty) {
  EXPECT_EQ(decode_slot(kSlot5)->summary, stats::Summary());
}

TEST(StatisticForm, TheLargestPartFits) {
  stats::Summary summary;
  for (std::uint32_t bucket = 0; bucket < stats::kBucketsEachSign; ++bucket)
    for (const bool negative : {false, true}) {
      const auto low = static_cast<std::int64_t>(stats::range_of(bucket).low);
      summary.add(negative ? -low : low);
    }
  const std::string part = encode_part(summary);
  EXPECT_LE(part.size(), kPartBytesMax);
  EXPECT_EQ(decode_slot(kSlot5 + part)->summary, summary);
}

TEST(StatisticForm, ThreeBytesABucket) {
  stats::Summary summary;
  for (std::int64_t value = 100; value < 100'000; ++value) summary.add(value);
  EXPECT_LE(encode_part(summary).size(), 3 * summary.histogram.buckets().size() + 40);
}

RC_GTEST_PROP(StatisticForm, ACutOffOneIsRefused, (const std::vector<std::int64_t>& values)) {
  RC_PRE(!values.empty());
  const std::string bytes = kSlot5 + encode_part(summary_of(values));
  const auto kept = *rc::gen::inRange<std::size_t>(2, bytes.size());
  RC_ASSERT(!decode_slot(bytes.substr(0, kept)).ok());
}

TEST(StatisticForm, RefusesWhatIsNone) {
  const std::string part = encode_part(summary_of({1}));
  EXPECT_FALSE(decode_slot("").ok());
  EXPECT_FALSE(decode_slot("\xff" + part).ok());    // a slot before 1970
  EXPECT_FALSE(decode_slot(kSlot5 + "\xc0").ok());  // nil
  EXPECT_FALSE(decode_slot(kSlot5 + "\x90").ok());  // an empty array
  EXPECT_FALSE(decode_slot(kSlot5 + part + "\x01").ok());
  stats::Summary wrong = summary_of({1, 2, 3});
  wrong.sum = 10;  // more than three times the largest
  EXPECT_FALSE(decode_slot(kSlot5 + encode_part(wrong)).ok());
  std::string no_count = part;
  no_count.back() = '\0';
  EXPECT_FALSE(decode_slot(kSlot5 + no_count).ok());
}

TEST(StatisticForm, IntegersOfAllSizes) {
  // 1, 200, 300, 70000, 2^33, -1, -100, -300, -70000, -2^33
  const std::string bytes(
      "\x01\xcc\xc8\xcd\x01\x2c\xce\x00\x01\x11\x70\xcf\x00\x00\x00\x02\x00\x00\x00\x00"
      "\xff\xd0\x9c\xd1\xfe\xd4\xd2\xff\xfe\xee\x90\xd3\xff\xff\xff\xfe\x00\x00\x00\x00",
      20 + 20);
  const auto numbers = decode_integers(bytes, 10);
  ASSERT_TRUE(numbers.ok());
  EXPECT_EQ(*numbers, (std::vector<std::int64_t>{1, 200, 300, 70000, std::int64_t{1} << 33, -1,
                                                 -100, -300, -70000, -(std::int64_t{1} << 33)}));
  EXPECT_FALSE(decode_integers(bytes, 9).ok());
  EXPECT_FALSE(decode_integers(bytes, 11).ok());
}

}  // namespace
}  // namespace heatsink::distributed
