// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/sort.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apps/heatsink/top/sample_for_test.h"

namespace heatsink::app {
namespace {

using testing::HasSubstr;

TEST(TopSort, OrdersGoRoundBothWays) {
  SortBy sort = SortBy::kRate;
  for (int i = 0; i < 7; ++i) {
    EXPECT_EQ(before(after(sort)), sort);
    sort = after(sort);
  }
  EXPECT_EQ(sort, SortBy::kRate);
  EXPECT_EQ(to_string(before(sort)), "misses");
}

TEST(TopSort, EachNameIsReadBack) {
  for (SortBy sort = after(SortBy::kRate);; sort = after(sort)) {
    const std::string name(to_string(sort));
    EXPECT_EQ(parse_order(name).value(), (Order{sort, false}));
    EXPECT_EQ(parse_order("-" + name).value(), (Order{sort, true}));
    if (sort == SortBy::kRate) break;
  }
}

TEST(TopSort, AnUnknownOrderNamesThoseThereAre) {
  for (const std::string_view wrong : {"", "-", "size", "Rate", "--rate"}) {
    const auto order = parse_order(wrong);
    ASSERT_FALSE(order.ok()) << wrong;
    EXPECT_THAT(order.error().message,
                HasSubstr("rate, bytes, share, reads, writes, hits, misses"));
  }
}

TEST(TopSort, EachOrderLooksAtItsNumber) {
  KeyView key = sample_key("k", 0, "hot");
  key.rate = 1;
  key.bytes_rate = 2;
  key.share = 3;
  key.reads_rate = 4;
  key.writes_rate = 5;
  key.hits_rate = 6;
  key.misses_rate = 7;
  double expected = 1;
  for (const SortBy by : {SortBy::kRate, SortBy::kBytes, SortBy::kShare, SortBy::kReads,
                          SortBy::kWrites, SortBy::kHits, SortBy::kMisses})
    EXPECT_EQ(sort_value(key, by), expected++);
  key.dimension = "bytes";
  EXPECT_EQ(sort_value(key, SortBy::kRate), 9) << "accesses: bytes are not comparable with those";
  key.misses_rate = kUnknown;
  EXPECT_LT(sort_value(key, SortBy::kMisses), 0);
}

}  // namespace
}  // namespace heatsink::app
