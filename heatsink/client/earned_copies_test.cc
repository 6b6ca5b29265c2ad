// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/earned_copies.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "heatsink/client/copies_for_test.h"

namespace heatsink::client {
namespace {

struct Earning {
  explicit Earning(const ClientOptions& given = {})
      : state(EarnedCopies::state_for(given)), it(given, state.get()) {}

  bool read(std::string_view key) {
    return earned.try_admit(key, hash_for_test(key), it.runtime.time);
  }
  // The keeper's turn, a second later.
  void turn() {
    it.pass(std::chrono::seconds(1));
    earned.tend(it.runtime.time);
  }

  const std::shared_ptr<admit::AdmissionState> state;
  CopiesForTest it;
  HitClock clock{it.runtime};
  AccessShards shards{{}, 1, state};
  EarnedCopies earned{it.options,
                      it.runtime.time,
                      {.kept = it.kept,
                       .guard = it.guard,
                       .shards = shards,
                       .clock = clock,
                       .served_until = it.served_until,
                       .life = it.life,
                       .admission = *state}};
};

TEST(EarnedCopies, NeedDetectionCopiesAndTheOption) {
  EXPECT_NE(EarnedCopies::state_for({}), nullptr);
  ClientOptions hot_only, uncounted, uncached;
  hot_only.admission = "hot";
  uncounted.detection_enabled = false;
  uncached.cache_enabled = false;
  for (const ClientOptions& options : {hot_only, uncounted, uncached})
    EXPECT_EQ(EarnedCopies::state_for(options), nullptr);
}

TEST(EarnedCopies, WithoutAServerTheFirstReadEarnsOne) {
  Earning it;
  EXPECT_TRUE(it.read("a"));
  EXPECT_TRUE(it.it.kept.has(hash_for_test("a")));
  EXPECT_FALSE(it.it.kept.is_hot(hash_for_test("a")));
  EXPECT_FALSE(it.read(std::string(detect::kKeyBytesMax + 1, 'x')));
  it.it.life.is_closed = true;
  EXPECT_FALSE(it.read("b"));
}

TEST(EarnedCopies, NoReadEarnsOneWhileNoServerIsProven) {
  Earning it;
  it.it.served_until.end_all();
  EXPECT_FALSE(it.read("a"));
  it.it.served_until.set(0, it.it.runtime.time + Nanos(1));
  EXPECT_TRUE(it.read("a"));
}

TEST(EarnedCopies, KeysWithoutACopyAreForgottenAtTheSecondVisit) {
  ClientOptions options;
  options.inactive_expire = std::chrono::seconds(2);  // one visit a second
  Earning it(options);
  ASSERT_TRUE(it.read("a"));
  it.turn();
  it.turn();
  it.turn();
  EXPECT_FALSE(it.it.kept.has(hash_for_test("a")));
}

TEST(EarnedCopies, ReportsPricesRefusalsAndTheCopiesThatSaveMost) {
  ClientOptions options;
  options.server_url = kSomeServer;
  options.maximum_size = 70;
  Earning it(options);
  const report::CopiesReport report = it.earned.report(it.it.runtime.time);
  EXPECT_EQ(report.fill_cost, 1);
  EXPECT_EQ(report.invalidation_cost, 0.45);
  EXPECT_TRUE(report.read_cpu);
  EXPECT_EQ(report.entries_max, 70U);
  EXPECT_TRUE(report.top.empty());
  EXPECT_EQ(Earning().earned.report(kStart).fill_cost, 0) << "a loader brings the copy by itself";
}

}  // namespace
}  // namespace heatsink::client
