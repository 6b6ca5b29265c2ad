// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/units.h"

#include <gtest/gtest.h>

namespace heatsink {
namespace {

TEST(Units, BytesReadAndWritten) {
  EXPECT_EQ(parse_bytes("512")->count, 512u);
  EXPECT_EQ(parse_bytes("64kb")->count, 65536u);
  EXPECT_EQ(parse_bytes("64KiB")->count, 65536u);
  EXPECT_EQ(parse_bytes("2gb")->count, 2ULL << 30);
  EXPECT_EQ(format_bytes(kibibytes(64)), "64kb");
  EXPECT_EQ(format_bytes(Bytes{1000}), "1000b");
  EXPECT_EQ(format_bytes(Bytes{0}), "0");
}

TEST(Units, DurationsReadAndWritten) {
  EXPECT_EQ(*parse_duration("250ms"), Millis(250));
  EXPECT_EQ(*parse_duration("1h"), std::chrono::hours(1));
  EXPECT_EQ(*parse_duration("0"), Nanos(0));
  EXPECT_EQ(format_duration(Millis(1500)), "1500ms");
  EXPECT_EQ(format_duration(std::chrono::seconds(60)), "1m");
}

TEST(Units, NonsenseIsRefusedWithAHint) {
  for (const char* bad :
       {"", "x", "-1s", "10", "10 s", "10sx", "99999999999999999999s", "9999999999h"}) {
    EXPECT_FALSE(parse_duration(bad).ok()) << bad;
  }
  for (const char* bad : {"", "mb", "-1", "1.5mb", "10tb", "99999999999999999999"}) {
    EXPECT_FALSE(parse_bytes(bad).ok()) << bad;
  }
  EXPECT_NE(parse_duration("10").error().message.find("250ms"), std::string::npos);
}

TEST(Units, SharesAreWrittenAsPercentagesOrParts) {
  EXPECT_EQ(*parse_share("2%"), Share{0.02});
  EXPECT_EQ(*parse_share("0.02"), Share{0.02});
  EXPECT_EQ(*parse_share("0.5%"), Share{0.005});
  for (const char* bad : {"", "%", "2 %", "2%%", "nan", "inf%", "1e999%", "two"}) {
    EXPECT_FALSE(parse_share(bad).ok()) << bad;
  }
  EXPECT_EQ(format_share(Share{0.02}), "2%");
  EXPECT_EQ(format_share(Share{}), "0%");
  for (const double part : {0.07, 0.29, 1.0 / 3, 1e-9, 0.123456789012345678, 1.0}) {
    const std::string text = format_share(Share{part});
    EXPECT_EQ(*parse_share(text), Share{part}) << text;
  }
}

}  // namespace
}  // namespace heatsink
