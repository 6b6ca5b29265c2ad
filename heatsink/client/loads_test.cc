// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/loads.h"

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <stdexcept>
#include <utility>

#include "heatsink/client/copies_for_test.h"
#include "heatsink/client/errors.h"

namespace heatsink::client {
namespace {

const KeyHash kLoadedKey = hash_for_test("a");

struct Loading : CopiesForTest {
  explicit Loading(const ClientOptions& given = {}) : CopiesForTest(given) {
    kept.make_hot("a", kLoadedKey);
  }
  // The number that a load brings now.
  int load(TimePoint since = TimePoint::min()) {
    return static_cast<const CachedValueOf<int>&>(*loads.load(kLoadedKey, source(), since)).value;
  }
  Load source() {
    return [this] {
      ++asked;
      pass(Millis(1));
      if (while_it_runs) std::exchange(while_it_runs, nullptr)();
      if (is_down) throw std::runtime_error("the source is down");
      return value_of(asked);
    };
  }
  // The next job, which is due now.
  void refresh() {
    refreshes.hurry(kLoadedKey);
    const auto job = refreshes.next();
    ASSERT_TRUE(job);
    loads.refresh(*job);
  }

  int asked = 0;
  bool is_down = false;
  std::function<void()> while_it_runs;
  Loads loads{options,
              runtime,
              {.kept = kept,
               .guard = guard,
               .served_until = served_until,
               .refreshes = refreshes,
               .counters = counters,
               .server = nullptr}};
};

TEST(Loads, AValueBecomesTheCopyAndServesTheNextLoad) {
  Loading it;
  EXPECT_EQ(it.load(), 1);
  EXPECT_EQ(it.copy("a"), 1);
  EXPECT_EQ(it.load(), 1) << "the copy came between the look-up and the load";
  EXPECT_EQ(it.counters.loads, 1U);
  EXPECT_EQ(it.counters.source_loads, 1U);
  EXPECT_EQ(it.load(it.runtime.time), 2) << "a load that begins from now on";
}

TEST(Loads, AChangeWhileItRunsLeavesNoCopy) {
  Loading it;
  it.while_it_runs = [&] { it.guard.changed(kLoadedKey); };
  EXPECT_EQ(it.load(), 1);
  EXPECT_EQ(it.copy("a"), 0);
}

TEST(Loads, AnErrorIsTheCallersUnlessACopyIsYoungEnough) {
  ClientOptions options;
  options.stale_while_error = std::chrono::seconds(30);
  Loading it(options);
  it.is_down = true;
  EXPECT_THROW(it.load(), std::runtime_error);
  EXPECT_EQ(it.counters.load_failures, 1U);
  it.is_down = false;
  EXPECT_EQ(it.load(), 2);
  it.is_down = true;
  it.pass(options.expire_after_write);
  EXPECT_EQ(it.load(), 2) << "expired, but younger than stale-while-error";
  EXPECT_EQ(it.counters.stale_served, 1U);
  it.pass(options.stale_while_error);
  EXPECT_THROW(it.load(), std::runtime_error);
}

TEST(Loads, ACallerThatWaitsTooLongForAHotKeyIsRefused) {
  Loading it;
  it.while_it_runs = [&] { EXPECT_THROW(it.load(), LoadRefused); };
  EXPECT_EQ(it.load(), 1);
  EXPECT_EQ(it.counters.waits, 1U);
  EXPECT_EQ(it.counters.refusals, 1U);
}

TEST(Loads, ACallerThatWaitsTooLongForAKeyThatIsNotHotLoadsAlone) {
  Loading it;
  it.kept.cool(kLoadedKey);
  it.while_it_runs = [&] { EXPECT_EQ(it.load(), 2); };
  EXPECT_EQ(it.load(), 2);
  EXPECT_EQ(it.counters.refusals, 0U);
}

TEST(Loads, ARefreshLoadsAHotKeyAndPutsTheNextOneOff) {
  Loading it;
  it.load();
  it.pass(Millis(1));
  it.refresh();
  EXPECT_EQ(it.copy("a"), 2);
  EXPECT_EQ(it.counters.refreshes, 1U);
  EXPECT_EQ(it.counters.loads, 1U) << "not in a caller's thread";
}

TEST(Loads, ARefreshOfAKeyThatIsNoLongerHotForgetsIt) {
  Loading it;
  it.load();
  it.kept.cool(kLoadedKey);
  it.refresh();
  EXPECT_EQ(it.asked, 1);
  it.refreshes.close();
  EXPECT_FALSE(it.refreshes.next());
}

TEST(Loads, ARefreshThatFailsTooOftenDropsTheCopy) {
  ClientOptions options;
  options.max_failures = 2;
  Loading it(options);
  it.load();
  it.is_down = true;
  it.refresh();
  EXPECT_EQ(it.copy("a"), 1);
  it.refresh();
  EXPECT_EQ(it.copy("a"), 0);
  EXPECT_EQ(it.counters.refresh_failures, 2U);
  EXPECT_EQ(it.counters.refresh_drops, 1U);
}

TEST(Loads, ALoadAheadIsABackgroundThreadsUnlessThereIsNone) {
  Loading it;
  it.loads.load_ahead(kLoadedKey, it.source(), it.runtime.time);
  EXPECT_EQ(it.asked, 0);
  const auto job = it.refreshes.next();
  ASSERT_TRUE(job);
  it.loads.refresh(*job);
  EXPECT_EQ(it.copy("a"), 1);
  ClientOptions options;
  options.refresh_enabled = false;
  Loading without(options);
  without.loads.load_ahead(kLoadedKey, without.source(), without.runtime.time);
  EXPECT_EQ(without.copy("a"), 1);
}

}  // namespace
}  // namespace heatsink::client
