// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/history.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "apps/heatsink/top/sample_for_test.h"

namespace heatsink::app {
namespace {

using Rates = std::vector<double>;

KeyView key(const std::string& name, double rate) { return sample_key(name, rate, "hot"); }

TEST(TopHistory, KeepsWhatEachAnswerSaid) {
  KeyHistories histories;
  histories.add({key("a", 1)});
  histories.add({key("a", 2), key("b", 7)});
  histories.add({key("b", 8)});
  EXPECT_EQ(histories.of(id_of(key("a", 0))), (Rates{1, 2, 0}));
  EXPECT_EQ(histories.of(id_of(key("b", 0))), (Rates{7, 8}));
  EXPECT_EQ(histories.of(id_of(key("c", 0))), Rates{});
}

TEST(TopHistory, TheSameNameElsewhereIsAnotherKey) {
  KeyHistories histories;
  KeyView other = key("a", 5);
  other.db = 1;
  KeyView bytes = key("a", 9);
  bytes.dimension = "bytes";
  histories.add({key("a", 1), other, bytes});
  EXPECT_EQ(histories.of(id_of(key("a", 0))), Rates{1});
  EXPECT_EQ(histories.of(id_of(other)), Rates{5});
  EXPECT_EQ(histories.of(id_of(bytes)), Rates{9});
}

TEST(TopHistory, AnUnknownRateIsDrawnAsNothing) {
  KeyHistories histories;
  histories.add({key("a", kUnknown)});
  EXPECT_EQ(histories.of(id_of(key("a", 0))), Rates{0});
}

TEST(TopHistory, PointsAndSilentKeysAreBounded) {
  KeyHistories histories;
  histories.add({key("gone", 3)});
  for (std::size_t i = 1; i < KeyHistories::kPointsMax; ++i) {
    EXPECT_EQ(histories.of(id_of(key("gone", 0))).size(), i);
    histories.add({key("there", static_cast<double>(i))});
  }
  histories.add({key("there", 1000)});
  EXPECT_EQ(histories.of(id_of(key("gone", 0))), Rates{});
  histories.add({key("there", 1001)});
  const Rates rates = histories.of(id_of(key("there", 0)));
  EXPECT_EQ(rates.size(), KeyHistories::kPointsMax);
  EXPECT_EQ(rates.front(), 2);
  EXPECT_EQ(rates.back(), 1001);
}

TEST(TopHistory, WhenFullTheLongestSilentMakeRoomAndNoListedOne) {
  KeyHistories histories;
  histories.add({key("oldest", 1)});
  std::vector<KeyView> many;
  for (std::size_t i = 0; i + 1 < KeyHistories::kKeysMax; ++i)
    many.push_back(key("k" + std::to_string(i), 5));
  histories.add(many);
  EXPECT_EQ(histories.size(), KeyHistories::kKeysMax);
  many.push_back(key("new", 6));
  many.push_back(key("one too many", 6));
  histories.add(many);
  EXPECT_EQ(histories.size(), KeyHistories::kKeysMax);
  EXPECT_EQ(histories.of(id_of(key("oldest", 0))), Rates{});
  EXPECT_EQ(histories.of(id_of(key("k0", 0))), (Rates{5, 5}));
  EXPECT_EQ(histories.of(id_of(key("new", 0))), Rates{6});
  EXPECT_EQ(histories.of(id_of(key("one too many", 0))), Rates{});
}

TEST(TopHistory, ATemplateIsTheSumOfItsKeys) {
  KeyHistories histories;
  histories.add({key("user:1:cart", 1), key("other", 50)});
  histories.add({key("user:1:cart", 2), key("user:2:cart", 10), key("other", 50)});
  EXPECT_EQ(histories.of_template(template_of(key("user:9:cart", 0))), (Rates{1, 12}));
}

}  // namespace
}  // namespace heatsink::app
