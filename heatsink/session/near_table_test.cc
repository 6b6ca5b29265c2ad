// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/near_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/resp/resp.h"
#include "heatsink/session/near_table_for_test.h"

namespace heatsink::proxy {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

TEST_F(NearTableTest, EachClientThatKeepsANameIsToldOnce) {
  EXPECT_TRUE(keep(ann, 7));
  EXPECT_TRUE(keep(ann, 7));
  EXPECT_TRUE(keep(bob, 7));
  EXPECT_TRUE(keep(bob, 8));
  EXPECT_EQ(table.kept(), 3U);
  table.changed({7}, bob.id());
  EXPECT_THAT(ann.take(), ElementsAre(7));
  EXPECT_THAT(ann.wires, ElementsAre(">2\r\n$10\r\ninvalidate\r\n*1\r\n$2\r\nk7\r\n"));
  EXPECT_THAT(bob.take(), ElementsAre(7));
  EXPECT_EQ(ann.own, 0);
  EXPECT_EQ(bob.own, 1);
  table.changed({7});
  EXPECT_THAT(ann.take(), IsEmpty());
  EXPECT_FALSE(kept.has({7}));
  EXPECT_TRUE(kept.has({8}));
}

// The two orders between which a change would be lost.
TEST_F(NearTableTest, ANameIsCountedBeforeTheCopyIsJudged) {
  bool was_counted = false;
  table.keep(ann.number, {7}, "k7", [&]() -> std::optional<NearBasis> {
    was_counted = kept.has({7});
    return std::nullopt;
  });
  EXPECT_TRUE(was_counted);
  EXPECT_FALSE(kept.has({7})) << "the copy is not valid, so the client was told";
  EXPECT_TRUE(table.empty());
}

TEST_F(NearTableTest, ForgettingAndLeavingSendNoPush) {
  keep(ann, 7);
  keep(ann, 8);
  keep(bob, 7);
  table.forget(ann.number, {7});
  table.forget(ann.number, {9});
  EXPECT_EQ(table.kept(), 2U);
  table.forget_all(ann.number);
  EXPECT_FALSE(table.keeps_any(ann.number));
  table.leave(bob.number);
  EXPECT_TRUE(table.empty());
  EXPECT_FALSE(kept.any());
  EXPECT_THAT(ann.take(), IsEmpty());
  EXPECT_EQ(table.join(ann), bob.number) << "the number is free again";
}

TEST_F(NearTableTest, EndAllTellsOneClientOfAllItsNames) {
  keep(ann, 7);
  keep(ann, 8);
  keep(bob, 7);
  table.end_all(ann.number);
  EXPECT_THAT(ann.take(), testing::UnorderedElementsAre(7, 8));
  EXPECT_THAT(bob.take(), IsEmpty());
  EXPECT_EQ(table.kept(), 1U);
  table.all_changed();
  EXPECT_THAT(bob.take(), ElementsAre(7));
}

TEST_F(NearTableTest, ANameEndsBeforeItsProofIsTooOld) {
  keep(ann, 7);
  table.look(*proofs, kNow + seconds(1));
  EXPECT_THAT(ann.take(), IsEmpty());
  (*proofs)[0].prove(kNow + seconds(5));
  table.look(*proofs, kNow + seconds(6));
  EXPECT_THAT(ann.take(), IsEmpty());
  table.look(*proofs, kNow + seconds(6) + Nanos(1));
  EXPECT_THAT(ann.take(), ElementsAre(7));
}

TEST_F(NearTableTest, ANameEndsWithItsDeadlineGenerationMasterAndDatabases) {
  const auto ends = [&] {
    keep(ann, 7);
    table.look(*proofs, kNow + seconds(1));
    return !ann.take().empty();
  };
  EXPECT_FALSE(ends());
  NearBasis short_lived = basis();
  short_lived.ends_at = kNow + Millis(500);
  table.all_changed();
  ann.take();
  keep(ann, 7, short_lived);
  table.look(*proofs, kNow + Millis(500));
  EXPECT_THAT(ann.take(), ElementsAre(7)) << "the deadline";
  (*proofs)[0].confirm(kNow - Nanos(1));
  EXPECT_TRUE(ends()) << "it may not be the master any more";
  (*proofs)[0].confirm(kNow);
  (*proofs)[0].know_exchanges(kNow - seconds(9));
  EXPECT_FALSE(ends()) << "a fill is of after all exchanges";
  table.look(*proofs, kNow + seconds(1) + Nanos(1));
  EXPECT_THAT(ann.take(), ElementsAre(7)) << "databases may have been exchanged";
  (*proofs)[0].know_exchanges(TimePoint::max());
  keep(ann, 7);
  generation = (*proofs)[0].begin_generation();
  table.look(*proofs, kNow);
  EXPECT_THAT(ann.take(), ElementsAre(7)) << "invalidations may have been lost";
}

// The key is read by no client then, because all of them keep it.
TEST(NearBasisTest, AClientKeepsAValueForLongerThanItsCopyLives) {
  constexpr TimePoint kNow = NearTableTest::kNow;
  policy::CopyOptions options;
  cache::Copy copy;
  copy.fill_sent_at = kNow;
  cache::ConsistencyPolicy consistency;
  consistency.level = cache::Level::kKey;
  const auto lives = [&](Nanos copy_lives) {
    copy.deadline = kNow + copy_lives;
    return NearBasis(copy, consistency, options).ends_at - kNow;
  };
  EXPECT_EQ(lives(options.expire_after_write), NearBasis::kLifeMax);
  copy.value_ends = kNow + seconds(30);
  EXPECT_EQ(lives(options.expire_after_write), seconds(30)) << "with its key";
  EXPECT_EQ(lives(seconds(5)), seconds(5)) << "the rights are not known";
  consistency.level = cache::Level::kTtl;
  EXPECT_EQ(lives(options.expire_after_write), options.expire_after_write);
  consistency.level = cache::Level::kKey;
  options.acl_staleness = options.expire_after_write;
  EXPECT_EQ(lives(options.expire_after_write), options.expire_after_write)
      << "the rights may be unknown";
}

TEST_F(NearTableTest, ANameEndsAtTheEndOfItsLatestCopy) {
  const auto ending = [&](Nanos after) {
    NearBasis out = basis();
    out.ends_at = kNow + after;
    return out;
  };
  (*proofs)[0].prove(kNow + seconds(100));
  keep(ann, 7, ending(seconds(10)));
  keep(ann, 8, ending(seconds(20)));
  keep(bob, 7, ending(seconds(30)));
  table.look(*proofs, kNow + seconds(10));
  EXPECT_THAT(ann.take(), IsEmpty());
  table.look(*proofs, kNow + seconds(29));
  EXPECT_THAT(ann.take(), ElementsAre(8));
  kept.note_change({7});
  keep(bob, 7, ending(seconds(29)));
  EXPECT_THAT(ann.take(), ElementsAre(7));
  EXPECT_THAT(bob.take(), ElementsAre(7));
  table.look(*proofs, kNow + seconds(29));
  EXPECT_THAT(bob.take(), ElementsAre(7)) << "the new value ends earlier than the one before";
}

TEST_F(NearTableTest, TheShortestBoundIsThatOfTheNamesSinceItWasEmpty) {
  EXPECT_EQ(table.shortest_bound(), Nanos::max());
  NearBasis is_short = basis();
  is_short.max_staleness = Millis(20);
  keep(ann, 7);
  EXPECT_EQ(table.shortest_bound(), seconds(1));
  keep(ann, 8, is_short);
  EXPECT_EQ(table.shortest_bound(), Millis(20));
  table.look(*proofs, kNow + seconds(1));
  EXPECT_THAT(ann.take(), ElementsAre(8)) << "and not the other one";
  table.changed({7});
  EXPECT_EQ(table.shortest_bound(), Nanos::max());
}

TEST_F(NearTableTest, NamesOfTwoServersEndByTheirOwnProofs) {
  NearBasis of_other = basis();
  of_other.proof = 3;
  of_other.generation = (*proofs)[3].begin_generation();
  (*proofs)[3].prove(kNow);
  keep(ann, 7);
  keep(ann, 8, of_other);
  (*proofs)[0].begin_generation();
  table.look(*proofs, kNow);
  EXPECT_THAT(ann.take(), ElementsAre(7));
  table.look(*proofs, kNow);
  (*proofs)[3].begin_generation();
  table.look(*proofs, kNow);
  EXPECT_THAT(ann.take(), ElementsAre(8));
}

// Otherwise keys that change all the time would take memory for as long as the longest life.
TEST_F(NearTableTest, EndsOfNamesThatAreGoneTakeLittleMemory) {
  keep(ann, 1);
  const std::size_t before = table.bytes();
  for (int i = 0; i < 100'000; ++i) {
    keep(ann, 7);
    table.changed({7});
  }
  EXPECT_LT(table.bytes(), before + 50'000);
}

TEST_F(NearTableTest, LongNamesCountByTheirLength) {
  const std::size_t before = table.bytes();
  const std::string key(1000, 'k');
  const auto keep_long = [&](std::uint64_t name) {
    const auto judge = [this]() -> std::optional<NearBasis> { return basis(); };
    EXPECT_TRUE(table.keep(ann.number, {name}, key, judge));
  };
  keep_long(1);
  keep_long(2);
  EXPECT_GE(table.bytes(), before + 2 * key.size());
  table.changed({1});
  table.forget(ann.number, {2});
  EXPECT_LT(table.bytes(), before + key.size());
}

TEST_F(NearTableTest, ACopyOfLevelTtlEndsWithItsDeadlineOnly) {
  NearBasis rests_on = basis();
  rests_on.is_proven = false;
  keep(ann, 7, rests_on);
  (*proofs)[0].begin_generation();
  table.look(*proofs, kNow + seconds(59));
  EXPECT_THAT(ann.take(), IsEmpty());
  table.look(*proofs, kNow + seconds(60));
  EXPECT_THAT(ann.take(), ElementsAre(7));
}

TEST_F(NearTableTest, ALaterCopyProvesTheEarlierOnes) {
  keep(ann, 7);
  NearBasis later = basis();
  later.filled_at = kNow + seconds(10);
  later.ends_at = kNow + seconds(70);
  keep(bob, 7, later);
  EXPECT_THAT(ann.take(), IsEmpty());
  table.look(*proofs, kNow + seconds(11));
  EXPECT_THAT(ann.take(), IsEmpty());
  generation = (*proofs)[0].begin_generation();
  keep(bob, 7);
  EXPECT_THAT(ann.take(), ElementsAre(7)) << "of another generation: a push may have been lost";
  EXPECT_THAT(bob.take(), ElementsAre(7));
  EXPECT_EQ(table.kept(), 1U) << "Bob keeps the new one";
}

// The word of a change is on its way to this worker, and a copy of the new value has come before.
TEST_F(NearTableTest, AClientThatSeesTheNewValueForgetsTheOldOne) {
  keep(ann, 7);
  kept.note_change({7});
  NearBasis later = basis();
  later.filled_at = kNow + Millis(1);
  keep(ann, 7, later);
  EXPECT_THAT(ann.take(), ElementsAre(7));
  keep(bob, 7, later);
  EXPECT_THAT(ann.take(), IsEmpty()) << "both have the new value";
  table.changed({7});
  EXPECT_THAT(ann.take(), ElementsAre(7)) << "the word of the change is late, and does no harm";
}

TEST_F(NearTableTest, AClientMayLeaveWhileItIsTold) {
  keep(ann, 7);
  keep(bob, 7);
  keep(ann, 8);
  ann.leaves = &table;
  table.changed({7});
  EXPECT_THAT(bob.take(), ElementsAre(7));
  EXPECT_TRUE(table.empty());
  ann.number = table.join(ann);
  keep(ann, 7);
  ann.leaves = &table;
  generation = (*proofs)[0].begin_generation();
  keep(ann, 7);
  EXPECT_TRUE(table.empty()) << "it left while its earlier value ended";
}

TEST_F(NearTableTest, ASlotThatItsNodeHasLostEndsItsNames) {
  const std::uint16_t slot = resp::key_slot("k1");
  std::vector<bool> lost(resp::kSlots);
  lost[slot] = true;
  keep(ann, 1);
  keep(bob, 1);
  keep(ann, 2);
  EXPECT_TRUE(kept.has_slot(slot));
  table.slots_lost(lost);
  EXPECT_THAT(ann.take(), ElementsAre(1));
  EXPECT_THAT(bob.take(), ElementsAre(1));
  EXPECT_EQ(table.names(), 1U);
  EXPECT_FALSE(kept.has_slot(slot));
}

TEST_F(NearTableTest, AChangeRightBehindTheJudgementIsNotMissed) {
  table.keep(ann.number, {1}, "k1", [&] {
    kept.note_change({1});
    return std::optional(basis());
  });
  keep(bob, 1);
  EXPECT_THAT(ann.take(), ElementsAre(1)) << "bob has a later value";
  EXPECT_THAT(bob.take(), IsEmpty());
}

// The news of it may be on its way still.
TEST_F(NearTableTest, ACopyOfASlotThatHasReturnedIsALaterOne) {
  keep(ann, 1);
  kept.note_slot_change(resp::key_slot("k1"));
  keep(bob, 1);
  EXPECT_THAT(ann.take(), ElementsAre(1)) << "it has an earlier value";
  EXPECT_THAT(bob.take(), IsEmpty());
}

TEST_F(NearTableTest, TheNumberAndTheLengthOfNamesAreLimited) {
  for (std::size_t i = 0; i < NearTable::kNamesPerClient; ++i) EXPECT_TRUE(keep(ann, i + 1));
  EXPECT_FALSE(keep(ann, NearTable::kNamesPerClient + 1));
  EXPECT_TRUE(keep(bob, NearTable::kNamesPerClient + 1));
  const std::string is_long(NearTable::kNameBytesMax + 1, 'x');
  EXPECT_FALSE(table.keep(bob.number, {99'999}, is_long, [&] { return std::optional(basis()); }));
  EXPECT_FALSE(table.keep(bob.number, {1}, "other", [&] { return std::optional(basis()); }))
      << "another name with the same hash";
}

// Against a model: sets of clients by name, and what the table owes each client. A client hears
// nothing else, and in the end all of it.
TEST_F(NearTableTest, ItDoesWhatSetsWouldDo) {
  constexpr std::size_t kClients = 20, kNames = 50;
  for (const std::size_t slice : {1000U, 5U, 1U}) {
    NearTable played(kept, slice);
    std::mt19937 random(static_cast<unsigned>(slice));
    std::vector<std::unique_ptr<FakeHolder>> holders;
    for (std::size_t i = 0; i < kClients; ++i) {
      holders.push_back(std::make_unique<FakeHolder>(i + 10));
      holders.back()->number = played.join(*holders.back());
    }
    std::array<std::set<std::size_t>, kNames> model;
    std::array<std::array<int, kNames>, kClients> owed{};
    std::size_t told = 0;
    const auto hear = [&] {
      for (std::size_t client = 0; client < kClients; ++client)
        for (const std::uint64_t name : holders[client]->take()) {
          ASSERT_GT(owed[client][name - 1]--, 0) << "slice " << slice;
          ++told;
        }
    };
    for (int i = 0; i < 50'000; ++i) {
      const std::size_t client = random() % kClients, name = random() % kNames;
      FakeHolder& holder = *holders[client];
      const std::size_t what = random() % 100;
      if (what < 60) {
        played.keep(holder.number, {name + 1}, "k", [&] { return std::optional(basis()); });
        model[name].insert(client);
        hear();
        ASSERT_EQ(owed[client][name], 0);
      } else if (what < 70) {
        played.forget(holder.number, {name + 1});
        model[name].erase(client);
      } else if (what < 78) {
        for (const std::size_t each : model[name]) ++owed[each][name];
        model[name].clear();
        played.changed({name + 1});
      } else if (what < 97) {
        if (played.is_telling()) played.tell_more();
      } else {
        if (what == 97) {
          for (std::size_t each = 0; each < kNames; ++each)
            if (model[each].erase(client) > 0) ++owed[client][each];
          played.end_all(holder.number);
          hear();
        }
        for (auto& each : model) each.erase(client);
        owed[client] = {};
        played.leave(holder.number);
        holder.number = played.join(holder);
      }
      hear();
    }
    while (played.is_telling()) played.tell_more();
    hear();
    for (const auto& each : owed) EXPECT_EQ(std::count(each.begin(), each.end(), 0), kNames);
    std::size_t kept_in_model = 0;
    for (const auto& each : model) kept_in_model += each.size();
    EXPECT_EQ(played.kept(), kept_in_model);
    EXPECT_GT(told, 1000U);
    for (const auto& each : holders) played.leave(each->number);
    EXPECT_FALSE(kept.any());
  }
}

}  // namespace
}  // namespace heatsink::proxy
