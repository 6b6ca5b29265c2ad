// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/earned_copies.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "heatsink/base/random.h"
#include "heatsink/base/zipf.h"

namespace heatsink::replay {
namespace {

// 10 000 requests/s for 30 s, to `keys` keys with a Zipf-like popularity. One in `write_every` is a
// write; 0: none.
Trace popular_keys(std::uint32_t keys, unsigned write_every = 0,
                   Operation operation = Operation::kGet) {
  TraceBuilder builder(mebibytes(64));
  std::mt19937_64 random(1);
  for (std::int64_t i = 0; i < 300'000; ++i) {
    const double u = static_cast<double>(random() % 1'000'000 + 1) / 1e6;
    const auto key = static_cast<std::uint32_t>(std::pow(static_cast<double>(keys), u)) - 1;
    const bool writes = write_every > 0 && random() % write_every == 0;
    builder.add({"k" + std::to_string(key), 0, i * (1'000'000'000 / 10'000),
                 writes ? Operation::kWrite : operation, 100});
  }
  return std::move(builder).finish({}).value();
}

EarnedSaving played(const Trace& trace, const Capacity& capacity, const CopyRules& rules = {}) {
  return earned_savings(trace, {capacity}, rules, 1, {}).front();
}

TEST(EarnedCopies, CopiesOfPopularKeysAnswerTheirReads) {
  const Trace trace = popular_keys(10'000);
  const EarnedSaving saving = played(trace, {1000, kNoByteLimit});
  EXPECT_GT(saving.hit_ratio, 0.6);
  EXPECT_GT(saving.net_ratio, 0.5);
  EXPECT_LE(saving.copies_peak, 1000u);
  EXPECT_GT(saving.evictions, 0u);
  EXPECT_DOUBLE_EQ(saving.hit_ratio, static_cast<double>(saving.hits) / 300'000);
  EXPECT_DOUBLE_EQ(saving.net_ratio, static_cast<double>(saving.hits) / 300'000 -
                                         static_cast<double>(saving.fills) / 300'000)
      << "clients wait for fills: each is one command more";
  EXPECT_NEAR(saving.server_ratio, saving.net_ratio, 0.001) << "the least that a fill costs";
  EXPECT_DOUBLE_EQ(saving.bytes_ratio, saving.hit_ratio) << "all values have the same size";
}

TEST(EarnedCopies, BehindPipelinesFillsCostTheServerMore) {
  const Trace trace = popular_keys(10'000, 20);
  CopyRules pipelined;
  pipelined.at_once = 20;
  const EarnedSaving alone = played(trace, {1000, kNoByteLimit});
  const EarnedSaving many = played(trace, {1000, kNoByteLimit}, pipelined);
  EXPECT_GT(many.costs.fill, 2);
  EXPECT_LT(many.server_ratio, alone.server_ratio);
}

TEST(EarnedCopies, MoreRoomSavesMore) {
  const Trace trace = popular_keys(10'000);
  const std::vector<EarnedSaving> all = earned_savings(
      trace, {{100, kNoByteLimit}, {1000, kNoByteLimit}, {16'384, kNoByteLimit}}, {}, 2, {});
  EXPECT_LT(all[0].hits, all[1].hits);
  EXPECT_LT(all[1].hits, all[2].hits);
  EXPECT_EQ(all[2].evictions, 0u);
}

TEST(EarnedCopies, TheSameWithAnyNumberOfThreads) {
  const Trace trace = popular_keys(1'000);
  const std::vector<Capacity> capacities{{100, kNoByteLimit}, {300, kNoByteLimit}};
  const auto one = earned_savings(trace, capacities, {}, 1, {});
  const auto four = earned_savings(trace, capacities, {}, 4, {});
  for (std::size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(one[i].hits, four[i].hits);
    EXPECT_EQ(one[i].fills, four[i].fills);
  }
}

TEST(EarnedCopies, KeysThatNeverReturnGetNone) {
  TraceBuilder builder(mebibytes(64));
  for (std::int64_t i = 0; i < 200'000; ++i)
    builder.add({"k" + std::to_string(i), 0, i * 100'000, Operation::kGet, 100});
  const Trace trace = std::move(builder).finish({}).value();
  const EarnedSaving saving = played(trace, {1000, kNoByteLimit});
  EXPECT_EQ(saving.hits, 0u);
  EXPECT_LT(saving.net_ratio, 0.001);
  EXPECT_GT(saving.net_ratio, -0.01) << "fills that saved nothing";
}

TEST(EarnedCopies, WritesEndCopies) {
  const EarnedSaving without = played(popular_keys(1'000), {1000, kNoByteLimit});
  const EarnedSaving some = played(popular_keys(1'000, 10), {1000, kNoByteLimit});
  const EarnedSaving half = played(popular_keys(1'000, 2), {1000, kNoByteLimit});
  EXPECT_LT(some.hits, without.hits * 9 / 10);
  EXPECT_GT(some.net_ratio, 0);
  EXPECT_GE(half.net_ratio, -0.01) << "nothing is copied where it does not pay";
  EXPECT_EQ(played(popular_keys(100, 0, Operation::kRead), {100, kNoByteLimit}).hits, 0u)
      << "other reads are not answered";
}

TEST(EarnedCopies, CopiesExpire) {
  CopyRules rules;
  const Trace trace = popular_keys(10);
  const EarnedSaving usual = played(trace, {100, kNoByteLimit}, rules);
  EXPECT_LE(usual.fills, 40u) << "10 keys, three lives of 10 s";
  rules.expire_after_write = Millis(100);
  EXPECT_GT(played(trace, {100, kNoByteLimit}, rules).fills, 1'000u);
}

TEST(EarnedCopies, BytesAreALimit) {
  const Trace trace = popular_keys(10'000);
  const Capacity capacity{65'536, kibibytes(64)};
  const EarnedSaving saving = played(trace, capacity);
  EXPECT_LE(saving.bytes_peak, 64u * 1024);
  EXPECT_LE(saving.copies_peak, 64u * 1024 / (kCopyOverheadBytes + 100));
  EXPECT_GT(saving.hit_ratio, 0.3);
  CopyRules rules;
  rules.value_bytes_max = Bytes{99};
  EXPECT_EQ(played(trace, capacity, rules).fills, 0u) << "too large";
}

TEST(EarnedCopies, BudgetsFitTheTrace) {
  EXPECT_EQ(budgets_for(popular_keys(10)).size(), 1u);
  EXPECT_EQ(budgets_for(popular_keys(3'000)).size(), 2u);
}

// Commands that the server is spared in each span, of its requests. A fill is one more.
std::vector<double> net_by_span(const EarnedSaving& saving) {
  std::vector<double> net;
  for (const EarnedSpan& span : saving.spans)
    net.push_back((static_cast<double>(span.hits) - static_cast<double>(span.fills)) /
                  static_cast<double>(span.requests));
  return net;
}

// In 2 s copies save 60 %, and in 10 s 90 %, of what they save in the end: the median of the second
// half.
void expect_soon(const std::vector<double>& net, const std::string& where) {
  std::vector<double> late(net.begin() + static_cast<std::ptrdiff_t>(net.size() / 2), net.end());
  std::sort(late.begin(), late.end());
  const double steady = late[late.size() / 2];
  EXPECT_GT(steady, 0.2) << where;
  EXPECT_GE(net[0], 0.6 * steady) << where;
  EXPECT_GE(*std::max_element(net.begin(), net.begin() + 5), 0.9 * steady) << where;
}

// 20 000 requests/s for 40 s, and then of other keys. Where 20 commands come at once a fill costs
// ten reads.
TEST(EarnedCopies, SaveSoonAfterAStartAndAfterTheTrafficMoved) {
  TraceBuilder builder(mebibytes(64));
  Random random(1);
  const Zipf zipf(100'000, 1.0);
  for (std::int64_t i = 0; i < 1'600'000; ++i) {
    const std::string part = i < 800'000 ? "a" : "b";
    builder.add({part + std::to_string(zipf.rank(random)), 0, i * (1'000'000'000 / 20'000),
                 Operation::kGet, 100});
  }
  const Trace trace = std::move(builder).finish({}).value();
  for (const double at_once : {1.0, 20.0}) {
    CopyRules rules;
    rules.at_once = at_once;
    const std::vector<double> net = net_by_span(played(trace, {65'536, kNoByteLimit}, rules));
    ASSERT_EQ(net.size(), 40U);
    const auto moved = net.begin() + 20;
    const std::string where = std::to_string(at_once) + " at once";
    expect_soon({net.begin(), moved}, where + ", after the start");
    expect_soon({moved, net.end()}, where + ", after the traffic has moved");
  }
}

}  // namespace
}  // namespace heatsink::replay
