// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/model.h"

#include <gtest/gtest.h>

#include <cmath>

#include "apps/heatsink/top/sample_for_test.h"

namespace heatsink::app {
namespace {

using std::chrono::seconds;

TopModel fresh() { return TopModel("127.0.0.1:6390", seconds(1)); }

TEST(TopModel, SortsByWhatThePersonChose) {
  TopModel model = fresh();
  HotkeysView answer = sample_answer();
  answer.keys[3].hits_rate = 50'000;
  model.answered(answer);
  EXPECT_EQ(model.rows().rows.front().key->name, "product:1000:price");
  model.choices.rows.order.by = SortBy::kWrites;
  EXPECT_EQ(model.rows().rows.front().key->name, "counter:visits");
  model.choices.rows.order.by = SortBy::kHits;
  EXPECT_EQ(model.rows().rows.front().key->name, "größe:日本");
}

TEST(TopModel, AnUnknownNumberSortsLast) {
  TopModel model = fresh();
  HotkeysView answer = sample_answer();
  answer.keys[0].rate = std::nan("");
  model.answered(answer);
  EXPECT_EQ(model.rows().rows.back().key->name, "product:1000:price");
}

TEST(TopModel, SilenceIsCountedFromItsFirstFailure) {
  TopModel model = fresh();
  model.failed("refused", TimePoint(seconds(5)));
  model.failed("timed out", TimePoint(seconds(9)));
  EXPECT_EQ(model.down_since, TimePoint(seconds(5)));
  EXPECT_EQ(model.problem, "timed out");
  model.answered(sample_answer());
  EXPECT_EQ(model.problem, "");
  EXPECT_FALSE(model.down_since);
}

TEST(TopModel, HistoryAndMemoryOfKeysAreBounded) {
  TopModel model = fresh();
  for (int i = 0; i < 1200; ++i) {
    HotkeysView answer = sample_answer();
    answer.node.requests_rate = i;
    answer.keys = {sample_key("k" + std::to_string(i), 5000, "hot"), sample_key("k0", 9000, "hot")};
    model.answered(answer);
  }
  EXPECT_EQ(model.requests.size(), TopModel::kHistoryMax);
  EXPECT_EQ(model.requests.back(), 1199);
  EXPECT_EQ(model.hot_keys.size(), TopModel::kRememberedMax);
  EXPECT_EQ(model.hot_keys.at("k0").rate_max, 9000);
}

TEST(TopModel, WarmKeysAreNotRememberedAsHot) {
  TopModel model = fresh();
  model.answered(sample_answer());
  EXPECT_EQ(model.hot_keys.size(), 4u);
  EXPECT_FALSE(model.hot_keys.contains("user:1002:profile"));
  EXPECT_TRUE(model.hot_keys.at("counter:visits").write_hot);
}

}  // namespace
}  // namespace heatsink::app
