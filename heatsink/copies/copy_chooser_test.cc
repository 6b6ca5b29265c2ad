// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_chooser.h"

#include <gtest/gtest.h>

#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/base/random.h"
#include "heatsink/cache/cache.h"

namespace heatsink::copies {
namespace {

detect::KeyCount counted(std::uint64_t reads, std::uint64_t writes) {
  detect::KeyCount count;
  count.reads = reads;
  count.writes = writes;
  return count;
}

KeyHash key_of(std::uint64_t number) { return KeyHash{Random(number).next()}; }

// One worker and the keeper, with room for 1000 keys.
class CopyChooserTest : public testing::Test {
 protected:
  void read(std::uint64_t number) { worker_.saw(key_of(number), false); }
  void tell_keeper() { chooser_.play(worker_.take_sampled(), TimePoint{}); }
  // Reads of this key until it earns a copy; 0: it does not within ten.
  int reads_until_copy(std::uint64_t number) {
    for (int i = 1; i <= 10; ++i) {
      if (worker_.earns_copy(key_of(number))) return i;
    }
    return 0;
  }

  cache::Epochs epochs_;
  cache::HotTable table_{{.entries_max = 1000}, epochs_};
  admit::AdmissionState state_{1000};
  admit::CopyAdmission worker_{state_};
  CopyChooser chooser_{{.copies_max = 1000}, state_, table_};
};

TEST_F(CopyChooserTest, AKeyEarnsACopyWithTheChosenRead) {
  EXPECT_EQ(reads_until_copy(1), static_cast<int>(chooser_.choice().reads));
}

TEST_F(CopyChooserTest, AKeyThatWasAdmittedEarnsItsNextCopyAnew) {
  const int first = reads_until_copy(1);
  worker_.admitted(key_of(1));
  EXPECT_EQ(reads_until_copy(1), first);
}

TEST_F(CopyChooserTest, AWriteOfTheKeyTakesItsReadsAway) {
  EXPECT_FALSE(worker_.earns_copy(key_of(1)));
  worker_.saw(key_of(1), true);
  EXPECT_EQ(reads_until_copy(1), static_cast<int>(chooser_.choice().reads));
}

TEST_F(CopyChooserTest, WithoutRepetitionNoKeyEarnsACopy) {
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    read(i);
    if (i % 1000 == 0) tell_keeper();
  }
  EXPECT_EQ(chooser_.choice().reads, admit::Choice::kNever);
  EXPECT_EQ(reads_until_copy(1), 0);
}

TEST_F(CopyChooserTest, WorkersAndTableFollowTheChoice) {
  // Each key is read eight times in a row, and never again.
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    read(i / 8);
    if (i % 1000 == 0) tell_keeper();
  }
  EXPECT_EQ(chooser_.choice().reads, 1U);
  EXPECT_EQ(reads_until_copy(1'000'000), 1);
  ASSERT_EQ(chooser_.choice().order, admit::EvictionOrder::kClock);
  EXPECT_EQ(table_.order(), admit::EvictionOrder::kClock) << "it begins as SIEVE";
}

// Clients that send 20 commands at once: a fill and an end cost more than ten reads.
constexpr ServerWork kPipelined{.commands = 20'000, .writes = 1000};

TEST_F(CopyChooserTest, WorkersAndTableFollowTheCostsAtOnce) {
  const NameHash name{key_of(1).value};  // in database 0
  table_.admit("key", 0, key_of(1), name, TimePoint{});
  ASSERT_TRUE(table_.insert(key_of(1), std::make_unique<cache::Copy>()));
  for (int i = 0; i < 5; ++i) table_.copy(key_of(1), {})->mark_read();
  chooser_.saw(kPipelined);
  EXPECT_GT(worker_.reads_to_pay(), 5U);
  table_.drop_name("key", name);
  EXPECT_EQ(table_.size(), 0U) << "five reads do not pay for a copy";
}

TEST_F(CopyChooserTest, AHotKeyIsHeldIfItsCopiesPayAcrossItsWrites) {
  const detect::KeyCount seldom_written = counted(990, 10);
  const detect::KeyCount often_written = counted(800, 200);
  EXPECT_TRUE(chooser_.is_worth_holding(often_written, false)) << "each hit spares a wake-up";
  chooser_.saw(kPipelined);
  EXPECT_FALSE(chooser_.is_worth_holding(often_written, false));
  EXPECT_FALSE(chooser_.is_worth_holding(often_written, true));
  EXPECT_TRUE(chooser_.is_worth_holding(seldom_written, false));
}

TEST_F(CopyChooserTest, AHeldKeyStaysHeldNearTheLimit) {
  chooser_.saw(kPipelined);
  const admit::Costs costs = chooser_.chooser().held_costs();
  const auto writes = static_cast<std::uint64_t>(850'000 / (1 + costs.fill + costs.end));
  const detect::KeyCount near = counted(1'000'000 - writes, writes);
  EXPECT_FALSE(chooser_.is_worth_holding(near, false));
  EXPECT_TRUE(chooser_.is_worth_holding(near, true));
}

// The mean decides; people see how far it wanders.
TEST_F(CopyChooserTest, TheCostOfAFillIsShownWithItsSpread) {
  int second = 0;
  const auto pass = [&](std::uint64_t commands) {
    chooser_.saw({.commands = commands, .writes = 1000});
    chooser_.tick(TimePoint(std::chrono::seconds(++second)));
  };
  for (int i = 0; i < 20; ++i) pass(2000);
  EXPECT_NEAR(chooser_.fill_cost_spread(), 0, 1e-9);
  const double steady = chooser_.costs().fill;
  for (int i = 0; i < 20; ++i) pass(i % 2 == 0 ? 1500 : 3000);
  EXPECT_GT(chooser_.fill_cost_spread(), 0.3);
  EXPECT_NEAR(chooser_.costs().fill, steady, 0.35 * steady);
}

// Of 100 000 operations per second, two by a system call, a worker takes 3 us each, and 1.8 us less
// for a hit.
ServerWork second_of_worker(double hit_share) {
  const double hits = hit_share * 100'000;
  ServerWork work{.commands = 100'000 - static_cast<std::uint64_t>(hits)};
  work.client_reads = 46'341;
  work.writes = work.commands / 4;
  work.hits = static_cast<std::uint64_t>(hits);
  work.cpu = Nanos(static_cast<std::int64_t>(100'000 * 3000.0 - hits * 1800));
  return work;
}

TEST_F(CopyChooserTest, WhatAHitSparesAWorkerShowsWhenTheShareOfHitsChanges) {
  int second = 0;
  const auto pass = [&](double hit_share) {
    chooser_.saw(second_of_worker(hit_share));
    chooser_.tick(TimePoint(std::chrono::seconds(++second)));
  };
  for (int i = 0; i < 60; ++i) pass(0.5);
  const double believed = static_cast<double>(chooser_.spared_proxy_cpu().count());
  EXPECT_NEAR(believed, 600, 10) << "by the prices: 100 ns, and 8 us for 4 * 4 commands";
  for (int i = 0; i < 60; ++i) pass(0.1 * (i % 9));
  EXPECT_NEAR(static_cast<double>(chooser_.spared_proxy_cpu().count()), 1600, 200);
}

// A hit takes a worker .8 us longer than to send the read on.
TEST_F(CopyChooserTest, AHitMayTakeAWorkerLonger) {
  for (int i = 0; i < 120; ++i) {
    ServerWork work = second_of_worker(0.1 * (i % 9));
    work.cpu = std::chrono::milliseconds(300) + work.hits * Nanos(800);
    chooser_.saw(work);
    chooser_.tick(TimePoint(std::chrono::seconds(i + 1)));
  }
  EXPECT_LT(chooser_.spared_proxy_cpu(), Nanos(-500));
  ASSERT_LT(chooser_.measured().worker.value, 0);
  EXPECT_EQ(chooser_.learned().worker_scale, 0.01) << "a hand-over carries none below 0";
}

// Clients that sent 16 commands at once, nearly all of them hits, send them one at a time, and half
// of them are none any more. A command takes ten times as long, but not for want of hits.
TEST_F(CopyChooserTest, AMoveToLoneCommandsIsNotTakenForWhatHitsSpared) {
  int second = 0;
  const auto pass = [&](double commands, double reads, double hit_share) {
    const double hits = hit_share * commands;
    ServerWork work{.commands = static_cast<std::uint64_t>(commands - hits),
                    .client_reads = static_cast<std::uint64_t>(reads)};
    work.writes = std::max<std::uint64_t>(work.commands / 10, 1);
    work.hits = static_cast<std::uint64_t>(hits);
    work.cpu = Nanos(static_cast<std::int64_t>(commands * 150 + reads * 6150 - hits * 200));
    chooser_.saw(work);
    chooser_.tick(TimePoint(std::chrono::seconds(++second)));
  };
  for (int i = 0; i < 10; ++i) pass(1'000'000, 62'500, 0.98);
  for (int i = 0; i < 20; ++i) pass(130'000, 130'000, 0.5 - 0.01 * i);
  EXPECT_NEAR(chooser_.measured().worker.value, 1, 0.7);
}

// The choice of the test above, but in fact nothing but fills and pushes comes of it.
TEST_F(CopyChooserTest, CopiesThatLoseInFactAreGivenUp) {
  const ServerWork second{
      .commands = 4000, .writes = 1000, .turns = 1000, .queued_fills = 400, .earned_hits = 16'000};
  TimePoint now{};
  std::uint64_t reads = 0;
  const auto pass = [&](std::uint64_t ends, int ticks) {
    for (int i = 0; i < ticks; ++i, now += std::chrono::seconds(1)) {
      for (int each = 0; each < 8000; ++each) read(reads++ / 8);
      tell_keeper();
      chooser_.saw(second);
      chooser_.saw(CopyChooser::KeeperWork{.time = std::chrono::seconds(1), .ends = ends});
      chooser_.tick(now);
    }
  };
  pass(0, 20);
  ASSERT_NE(chooser_.choice().reads, admit::Choice::kNever);
  pass(4000, 30);
  EXPECT_EQ(chooser_.choice().reads, admit::Choice::kNever);
  EXPECT_GT(chooser_.chooser().estimates().front().saved, 0.1) << "the sample says otherwise";
}

// One time 20 000 reads per second of keys that are each read seven times in a row.
admit::Choice choice_where(const ServerWork& second) {
  cache::Epochs epochs;
  cache::HotTable table{{.entries_max = 1000}, epochs};
  admit::AdmissionState state{1000};
  admit::CopyAdmission worker{state};
  CopyChooser chooser{{.copies_max = 1000}, state, table};
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    worker.saw(key_of(i / 7), false);
    if (i % 1000 == 0) chooser.play(worker.take_sampled(), TimePoint(Nanos(i * 50'000)));
    if (i % 20'000 != 0) continue;
    chooser.saw(second);
    chooser.tick(TimePoint(Nanos(i * 50'000)));
  }
  return chooser.choice();
}

// On a busy machine they bunch: ten at once in the mean, but half of the turns have one command.
TEST_F(CopyChooserTest, CopiesAreNotGivenUpWhereClientsBunch) {
  ServerWork even{.commands = 20'000, .writes = 2000, .turns = 2000, .queued_fills = 1000};
  ServerWork bunched = even;
  for (int turn = 0; turn < 2000; ++turn) {
    even.batches.note(10);
    bunched.batches.note(turn % 2 == 0 ? 1 : 19);
  }
  EXPECT_EQ(choice_where(even).reads, admit::Choice::kNever);
  EXPECT_NE(choice_where(bunched).reads, admit::Choice::kNever);
}

TEST_F(CopyChooserTest, TheServersPricesAreBelievedUntilTheyAreMeasured) {
  EXPECT_EQ(chooser_.measured().server.value, admit::kServerScaleBelieved);
  EXPECT_FALSE(chooser_.measured().server.is_measured);
  const double believed = static_cast<double>(chooser_.spared_cpu().count());
  EXPECT_NEAR(believed, 1.7 * 13'600, 1) << "a lone command, with its wake-up";
  chooser_.saw(kPipelined);
  const double fill = chooser_.chooser().held_costs().fill;
  chooser_.set_server_scale({.value = 0.5, .is_measured = true});
  EXPECT_TRUE(chooser_.measured().server.is_measured);
  EXPECT_GT(chooser_.chooser().held_costs().fill, 1.2 * fill)
      << "a fast server is spared less, and the proxy takes as long as before";
  chooser_.adopt({.copies_max = 500});
  EXPECT_EQ(chooser_.chooser().prices().server.command, 0.3e-6) << "another size keeps it";
}

// 100 reads have waited 1.1 ms each, and the server answers within .1 ms: 1 ms longer, at 1 %.
TEST_F(CopyChooserTest, TheWaitForFillsIsPriced) {
  ServerWork work{.commands = 1000, .writes = 1000};
  work.asks = 1000;
  work.asked = work.asks * std::chrono::microseconds(100);
  work.waits = 100;
  work.waited = work.waits * std::chrono::microseconds(1100);
  chooser_.saw(work);
  chooser_.tick(TimePoint(std::chrono::seconds(1)));
  EXPECT_EQ(chooser_.measured().wait, Millis(1));
  EXPECT_NEAR(chooser_.chooser().prices().proxy.wait, 10e-6, 1e-9);
  chooser_.adopt({.copies_max = 1000, .wait_weight = 0});
  EXPECT_EQ(chooser_.chooser().prices().proxy.wait, 0);
}

TEST_F(CopyChooserTest, TheNextProcessBeginsWithWhatWasLearned) {
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    read(i / 8);
    if (i % 1000 == 0) tell_keeper();
  }
  ASSERT_EQ(chooser_.choice().reads, 1U);
  for (int i = 0; i < 120; ++i)
    chooser_.saw(CopyChooser::KeeperWork{
        .time = std::chrono::seconds(1), .cpu = Millis(500), .fills = 10'000});
  chooser_.set_server_scale({.value = 0.5, .is_measured = true});
  for (int i = 0; i < 100; ++i) chooser_.saw(kPipelined);
  const Learned learned = chooser_.learned();
  EXPECT_EQ(learned.server_scale, 0.5);
  EXPECT_FALSE(learned.worker_scale) << "its work was not measured";
  EXPECT_NEAR(learned.at_once, 20, 0.1);

  admit::AdmissionState state{1000};
  cache::HotTable table{{.entries_max = 1000}, epochs_};
  CopyChooser next{{.copies_max = 1000}, state, table};
  EXPECT_FALSE(next.learned().choice) << "a guess is not passed on";
  next.begin_with(learned);
  EXPECT_EQ(next.choice(), chooser_.choice());
  EXPECT_EQ(table.order(), chooser_.choice().order);
  EXPECT_NEAR(next.chooser().traffic().at_once, learned.at_once, 0.01);
  EXPECT_DOUBLE_EQ(next.measured().keeper.value, chooser_.measured().keeper.value);
  EXPECT_FALSE(next.measured().keeper.is_measured) << "not here";
  EXPECT_EQ(next.learned().choice, chooser_.choice());
}

TEST_F(CopyChooserTest, AnotherSizeTakesNoMeasuredPriceAway) {
  const CopyChooser::KeeperWork work{
      .time = std::chrono::seconds(1), .cpu = Millis(500), .fills = 1000};
  const Nanos before = chooser_.keeper_cpu();
  for (int i = 0; i < 120; ++i) chooser_.saw(work);
  const Nanos measured = chooser_.keeper_cpu();
  EXPECT_GT(measured, 3 * before);
  chooser_.adopt({.copies_max = 500, .life = std::chrono::seconds(5)});
  EXPECT_EQ(chooser_.keeper_cpu(), measured);
  EXPECT_EQ(chooser_.chooser().copies(), 500U);
  EXPECT_EQ(state_.history(), 500U * chooser_.choice().history);
}

TEST_F(CopyChooserTest, AnotherWeightTakesNothingLearnedAway) {
  for (std::uint64_t i = 0; i < 100'000; ++i) {
    read(i);
    if (i % 1000 == 0) tell_keeper();
  }
  ASSERT_EQ(chooser_.choice().reads, admit::Choice::kNever);
  chooser_.adopt({.copies_max = 1000, .server_weight = 2});
  EXPECT_EQ(chooser_.choice().reads, admit::Choice::kNever);
  EXPECT_EQ(chooser_.chooser().prices().server_weight, 2);
}

TEST_F(CopyChooserTest, TheSampleIsBoundedBetweenTwoCalls) {
  for (std::uint64_t i = 0; i < 10 * admit::CopyAdmission::kSampledMax; ++i) read(i);
  EXPECT_EQ(worker_.take_sampled().size(), admit::CopyAdmission::kSampledMax);
  EXPECT_TRUE(worker_.take_sampled().empty());
}

}  // namespace
}  // namespace heatsink::copies
