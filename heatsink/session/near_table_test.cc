// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/near_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "heatsink/base/byte_buffer.h"

namespace heatsink::proxy {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::IsEmpty;

constexpr TimePoint kNow = TimePoint(seconds(1000));

class FakeHolder final : public NearTable::Holder {
 public:
  explicit FakeHolder(std::uint64_t its_id) : id_(its_id) {}
  std::uint64_t id() const override { return id_; }
  void end_name(NameHash name, std::string_view wire, bool by_itself) override {
    told.push_back(name.value);
    wires.emplace_back(wire);
    own += by_itself ? 1 : 0;
    if (leaves != nullptr) std::exchange(leaves, nullptr)->leave(number);
  }
  std::vector<std::uint64_t> take() { return std::exchange(told, {}); }

  std::vector<std::uint64_t> told;
  std::vector<std::string> wires;
  int own = 0;
  NearTable* leaves = nullptr;
  NearTable::Number number = 0;

 private:
  const std::uint64_t id_;
};

class NearTableTest : public testing::Test {
 protected:
  NearTableTest() {
    generation = proofs->operator[](0).begin_generation();
    (*proofs)[0].prove(kNow);
    for (FakeHolder* each : {&ann, &bob}) each->number = table.join(*each);
  }
  NearBasis basis() const {
    NearBasis out;
    out.generation = generation;
    out.filled_at = kNow;
    out.ends_at = kNow + seconds(60);
    out.max_staleness = seconds(1);
    return out;
  }
  bool keep(const FakeHolder& who, std::uint64_t name, std::optional<NearBasis> rests_on) {
    return table.keep(who.number, {name}, "k" + std::to_string(name), [&] { return rests_on; });
  }
  bool keep(const FakeHolder& who, std::uint64_t name) { return keep(who, name, basis()); }

  std::unique_ptr<cache::ProofStates> proofs = std::make_unique<cache::ProofStates>();
  cache::Generation generation;
  cache::KeptNames kept;
  NearTable table{kept};
  FakeHolder ann{1}, bob{2};
};

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

TEST_F(NearTableTest, TheNumberAndTheLengthOfNamesAreLimited) {
  for (std::size_t i = 0; i < NearTable::kNamesPerClient; ++i) EXPECT_TRUE(keep(ann, i + 1));
  EXPECT_FALSE(keep(ann, NearTable::kNamesPerClient + 1));
  EXPECT_TRUE(keep(bob, NearTable::kNamesPerClient + 1));
  const std::string is_long(NearTable::kNameBytesMax + 1, 'x');
  EXPECT_FALSE(table.keep(bob.number, {99'999}, is_long, [&] { return std::optional(basis()); }));
  EXPECT_FALSE(table.keep(bob.number, {1}, "other", [&] { return std::optional(basis()); }))
      << "another name with the same hash";
}

// Against a model: sets of clients by name.
TEST_F(NearTableTest, ItDoesWhatSetsWouldDo) {
  constexpr std::size_t kClients = 20, kNames = 50;
  std::mt19937 random(1);
  std::vector<std::unique_ptr<FakeHolder>> holders;
  for (std::size_t i = 0; i < kClients; ++i) {
    holders.push_back(std::make_unique<FakeHolder>(i + 10));
    holders.back()->number = table.join(*holders.back());
  }
  std::array<std::set<std::size_t>, kNames> model;
  std::size_t told = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::size_t client = random() % kClients, name = random() % kNames;
    FakeHolder& holder = *holders[client];
    const std::size_t what = random() % 100;
    if (what < 70) {
      keep(holder, name + 1);
      model[name].insert(client);
    } else if (what < 80) {
      table.forget(holder.number, {name + 1});
      model[name].erase(client);
    } else if (what < 98) {
      table.changed({name + 1});
      for (std::size_t each = 0; each < kClients; ++each) {
        const bool was_told = !holders[each]->take().empty();
        ASSERT_EQ(was_told, model[name].contains(each));
        told += was_told ? 1 : 0;
      }
      model[name].clear();
    } else {
      table.leave(holder.number);
      for (auto& each : model) each.erase(client);
      holder.number = table.join(holder);
    }
  }
  std::size_t kept_in_model = 0;
  for (const auto& each : model) kept_in_model += each.size();
  EXPECT_EQ(table.kept(), kept_in_model);
  EXPECT_GT(told, 1000U);
  for (const auto& each : holders) table.leave(each->number);
  EXPECT_FALSE(kept.any());
}

}  // namespace
}  // namespace heatsink::proxy
