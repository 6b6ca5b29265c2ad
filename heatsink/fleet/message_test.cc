// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/message.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "heatsink/fleet/bounds.h"
#include "heatsink/fleet/fleet_for_test.h"

namespace heatsink::fleet {
namespace {

using testing::HasSubstr;

Message a_message() {
  Message message;
  message.sequence = 7;
  message.step = Millis(250);
  message.windows.push_back(window_for_test({{"a", 300}, {"b", 20}}, 1000));
  return message;
}

std::string problem_of(const std::string& bytes) {
  const Result<Message> decoded = decode(bytes, report_bounds(), kSeedForTest, TimePoint{});
  return decoded.ok() ? "" : decoded.error().message;
}

TEST(FleetMessage, ComesBackAsItWas) {
  const Result<Message> back =
      decode(encode(a_message()), report_bounds(), kSeedForTest, TimePoint{});
  ASSERT_TRUE(back.ok()) << back.error().message;
  EXPECT_EQ(back->sequence, 7U);
  EXPECT_EQ(back->step, Millis(250));
  EXPECT_EQ(back->windows, a_message().windows);
}

TEST(FleetMessage, RefusesWhatIsDamagedOrTooLongOrOfAnotherVersion) {
  std::string bytes = encode(a_message());
  EXPECT_THAT(problem_of("hello"), HasSubstr("no valid header"));
  EXPECT_THAT(problem_of(bytes.substr(0, bytes.size() - 1)), HasSubstr("checksum"));
  EXPECT_THAT(problem_of(bytes + std::string(kReportBytesMax, 'x')), HasSubstr("longer than"));
  bytes[4] = 9;
  EXPECT_THAT(problem_of(bytes), HasSubstr("has version 9, and this build reads 1"));
}

TEST(FleetMessage, RefusesImpossibleCounts) {
  Message lie = a_message();
  lie.windows[0].requests = 100;  // fewer than those of its key
  lie.windows[0].reads = 100;
  EXPECT_THAT(problem_of(encode(lie)), HasSubstr("impossible"));
  lie = a_message();
  lie.windows[0].requests = lie.windows[0].reads = std::uint64_t{1} << 52;
  EXPECT_THAT(problem_of(encode(lie)), HasSubstr("impossible"));
  lie = a_message();
  lie.instances = 2;  // a report is of one
  EXPECT_THAT(problem_of(encode(lie)), HasSubstr("too large"));
  lie = a_message();
  lie.windows.push_back(lie.windows[0]);
  EXPECT_THAT(problem_of(encode(lie)), HasSubstr("twice"));
}

TEST(FleetMessage, RefusesMoreKeysThanItsBounds) {
  Message many = a_message();
  std::vector<std::pair<std::string, std::uint64_t>> keys;
  for (std::size_t i = 0; i < kListKeys + kReportKeys + 1; ++i)
    keys.emplace_back("k" + std::to_string(i), 1);
  many.windows[0] = window_for_test(keys, 1000);
  EXPECT_THAT(problem_of(encode(many)), HasSubstr("151 keys, and the limit is 150"));
}

}  // namespace
}  // namespace heatsink::fleet
