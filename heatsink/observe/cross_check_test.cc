// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/cross_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/observe/rows.h"

namespace heatsink::observe {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Observation seen(std::string source, const std::vector<std::pair<std::string, double>>& keys) {
  Observation out;
  std::vector<KeyRow> rows;
  for (const auto& [name, rate] : keys) {
    KeyRow row;
    row.count.key = name;
    row.count.reads = 1;
    row.rate = {rate, rate * 0.9, rate * 1.1};
    rows.push_back(std::move(row));
  }
  out.facts.name = std::move(source);
  out.report =
      make_report(std::move(rows), {.requests_rate = 1000}, "here", Nanos(1), Nanos(1), {});
  return out;
}

TEST(CrossCheck, AgreementIsOneSentence) {
  const std::vector<Observation> both = {seen("a", {{"k", 500}}), seen("b", {{"k", 550}})};
  EXPECT_THAT(cross_check(both),
              ElementsAre("2 sources agree on the 10 busiest keys, within their bounds"));
}

TEST(CrossCheck, RatesThatExcludeEachOtherAreTold) {
  const std::vector<Observation> both = {seen("a", {{"k\n", 500}}), seen("b", {{"k\n", 700}})};
  EXPECT_THAT(cross_check(both), ElementsAre("k\\n: a 500/s (450 .. 550), b 700/s (630 .. 770)"));
}

TEST(CrossCheck, AHotKeyThatOnlyOneKnowsIsTold) {
  const std::vector<Observation> both = {seen("a", {{"x", 500}}),
                                         seen("b", {{"y", 10}, {"x", 500}}),
                                         seen("c", {{"z", 200}, {"x", 500}})};
  EXPECT_THAT(cross_check(both),
              ElementsAre("z: hot by c 200/s (180 .. 220), but not listed by a"));
}

TEST(CrossCheck, OneAloneHasNobodyToAgreeWith) {
  const std::vector<Observation> one = {seen("a", {{"x", 500}}), seen("b", {})};
  EXPECT_THAT(cross_check(one), IsEmpty());
}

}  // namespace
}  // namespace heatsink::observe
