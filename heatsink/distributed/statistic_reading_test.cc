// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/statistic_reading.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/distributed/statistic_form.h"

namespace heatsink::distributed {
namespace {

resp::Value integer(std::int64_t value) {
  resp::Value reply;
  reply.type = resp::Value::Type::kInteger;
  reply.integer = value;
  return reply;
}

// A reply to `read`, with slots that hold one number each: their own.
resp::Value reply_of(const std::vector<std::int64_t>& head,
                     const std::vector<std::int64_t>& slots = {}) {
  resp::Value reply;
  reply.type = resp::Value::Type::kArray;
  for (const std::int64_t each : head) reply.items.push_back(integer(each));
  for (const std::int64_t slot : slots) {
    stats::Summary numbers;
    numbers.add(slot);
    resp::Value bytes;
    bytes.type = resp::Value::Type::kString;
    bytes.text = static_cast<char>(slot) + encode_part(numbers);
    reply.items.push_back(bytes);
  }
  return reply;
}

TEST(StatisticReading, AddsUpTheSlotsThatAreWanted) {
  const auto reading = parse_reading(reply_of({65'250, 1000, 60, 65, 10}, {65, 60, 56, 55, 5}));
  ASSERT_TRUE(reading.ok());
  EXPECT_EQ((*reading)->summary.count, 3U);
  EXPECT_EQ((*reading)->summary.sum, 65 + 60 + 56);
  EXPECT_EQ((*reading)->slot, Millis(1000));
  EXPECT_EQ((*reading)->length, Millis(60'000));
  EXPECT_EQ((*reading)->covered, Millis(9250));
}

TEST(StatisticReading, TimeThatStandsStillCoversASlotAtMost) {
  EXPECT_EQ((*parse_reading(reply_of({60'000, 1000, 60, 65, 1})))->covered, Millis(0));
  EXPECT_EQ((*parse_reading(reply_of({70'000, 1000, 60, 65, 1})))->covered, Millis(1000));
}

TEST(StatisticReading, NothingIsNoError) {
  const auto reading = parse_reading(reply_of({65'250}));
  ASSERT_TRUE(reading.ok());
  EXPECT_FALSE(reading.value().has_value());
}

TEST(StatisticReading, RefusesWhatIsNone) {
  EXPECT_FALSE(parse_reading(integer(5)).ok());
  EXPECT_FALSE(parse_reading(reply_of({})).ok());
  EXPECT_FALSE(parse_reading(reply_of({65'250, 1000, 60})).ok());
  EXPECT_FALSE(parse_reading(reply_of({65'250, 0, 60, 65, 1})).ok());
  EXPECT_FALSE(parse_reading(reply_of({65'250, 1000, 60, 65, 61})).ok());
  EXPECT_FALSE(parse_reading(reply_of({65'250, INT64_MAX, 60, 65, 1})).ok());
  EXPECT_FALSE(parse_reading(reply_of({65'250, 1000, 1000, 65, 1})).ok());
  EXPECT_FALSE(parse_reading(reply_of({65'250, 1000, 60, 65, 1}, {65, 64})).ok());
  resp::Value reply = reply_of({65'250, 1000, 60, 65, 1});
  reply.items.push_back(integer(1));
  EXPECT_FALSE(parse_reading(reply).ok());
}

}  // namespace
}  // namespace heatsink::distributed
