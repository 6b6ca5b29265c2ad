// SPDX-License-Identifier: Apache-2.0
#include "heatsink/limit/rate.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <chrono>
#include <string>

namespace heatsink::limit {
namespace {

using namespace std::chrono_literals;

TEST(RateText, IsACountPerTime) {
  EXPECT_EQ(parse_rate("5000/s").value(), (Rate{5000, 1s}));
  EXPECT_EQ(parse_rate("100/10s").value(), (Rate{100, 10s}));
  EXPECT_EQ(parse_rate("1/h").value(), (Rate{1, 1h}));
  EXPECT_EQ(parse_rate("1/24h").value(), (Rate{1, 24h}));
  EXPECT_EQ(parse_rate("100000000/s").value(), (Rate{100'000'000, 1s}));
}

TEST(RateText, RefusesWhatIsNone) {
  for (const char* text : {"", "/", "5000", "5000/", "/s", "-1/s", "1.5/s", "5k/s", "5/lightyear",
                           "18446744073709551616/s", "5/s/s"}) {
    const auto rate = parse_rate(text);
    ASSERT_FALSE(rate.ok()) << text;
    EXPECT_EQ(rate.error().code, ErrorCode::kInvalidArgument) << text;
    EXPECT_NE(rate.error().message.find("5000/s"), std::string::npos) << rate.error().message;
  }
}

TEST(RateText, RefusesWhatIsOutOfBounds) {
  for (const char* text : {"0/s", "100000001/s", "200000/1ms", "1/25h", "1/100us"}) {
    const auto rate = parse_rate(text);
    ASSERT_FALSE(rate.ok()) << text;
    EXPECT_EQ(rate.error().code, ErrorCode::kOutOfRange) << text;
  }
}

RC_GTEST_PROP(RateText, ReadsBackTheSame, ()) {
  const Rate rate{*rc::gen::inRange<std::uint64_t>(1, 100'000),
                  Millis(*rc::gen::inRange<std::int64_t>(1, 86'400'000))};
  RC_PRE(check_rate(rate).ok());
  RC_ASSERT(parse_rate(format_rate(rate)).value() == rate);
}

}  // namespace
}  // namespace heatsink::limit
