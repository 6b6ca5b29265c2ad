// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/key_rule.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "heatsink/cache/moments_for_test.h"

namespace heatsink::cache {
namespace {

constexpr std::uint64_t kKeySeed = 1;

// One hot key whose copy every check allows: filled at 10 s, valid until 20 s, judged at 10.5 s.
class KeyRule : public testing::Test {
 protected:
  explicit KeyRule(Level level = Level::kKey) {
    table_.promote("k", 0, hash_, name_, TimePoint{}, {level, kMaxStaleness});
    generation_ = proof_.begin_generation();
    fill(at(Millis(10'000)));
  }

  void fill(TimePoint sent_at) {
    auto copy = std::make_unique<Copy>();
    copy->generation = generation_;
    copy->fill_sent_at = sent_at;
    copy->deadline = at(Millis(20'000));
    copy->reply = "$1\r\nv\r\n";
    ASSERT_TRUE(table_.insert(hash_, std::move(copy)));
  }

  ServeDecision judge_at(TimePoint now) {
    return judge(*table_.entry(hash_), Read{}, proof_, fences_, now, session_fence_);
  }
  Ruling ruling_at(TimePoint now) { return judge_at(now).ruling; }
  Ruling ruling() { return ruling_at(at(Millis(10'500))); }

  const NameHash name_ = hash_name("k", kKeySeed);
  const KeyHash hash_ = in_db(name_, 0);
  Epochs epochs_;
  HotTable table_{HotTableLimits{}, epochs_};
  ProofState proof_;
  Fences fences_{table_};
  Generation generation_;
  TimePoint session_fence_{};
};

TEST_F(KeyRule, ServesOnlyWhileTheMasterIsConfirmed) {
  proof_.confirm(at(Millis(10'400)) - kMaxStaleness);
  EXPECT_EQ(ruling_at(at(Millis(10'400))), Ruling::kServe);
  EXPECT_EQ(ruling_at(at(Millis(10'400)) + Nanos(1)), Ruling::kUnproven);
  proof_.prove(at(Millis(10'450)));  // the heartbeat goes on
  EXPECT_EQ(ruling(), Ruling::kUnproven);
  proof_.confirm(at(Millis(10'450)));
  EXPECT_EQ(ruling(), Ruling::kServe);
  proof_.confirm(TimePoint::min());
  EXPECT_EQ(ruling(), Ruling::kUnproven);
  proof_.confirm(TimePoint::max());
  EXPECT_EQ(ruling(), Ruling::kServe);
}

// The heartbeats go on, and nothing is known of SWAPDB: no invalidation would tell of it.
TEST_F(KeyRule, ServesOnlyWhileExchangesOfDatabasesAreKnown) {
  const TimePoint known = at(Millis(10'400)) - kMaxStaleness;
  proof_.prove(at(Millis(10'450)));
  proof_.know_exchanges(known);
  const TimePoint last =
      std::max(known, table_.entry(hash_)->copy(Read{})->fill_sent_at) + kMaxStaleness;
  EXPECT_EQ(ruling_at(last), Ruling::kServe);
  EXPECT_EQ(ruling_at(last + Nanos(1)), Ruling::kUnproven);
  proof_.know_exchanges(at(Millis(10'450)));
  EXPECT_EQ(ruling_at(last + Nanos(1)), Ruling::kServe);
  proof_.know_exchanges(TimePoint::max());
  EXPECT_EQ(ruling_at(last + Nanos(1)), Ruling::kServe);
}

TEST_F(KeyRule, ServesTheCopy) {
  const ServeDecision decision = judge_at(at(Millis(10'500)));
  ASSERT_EQ(decision.ruling, Ruling::kServe);
  EXPECT_EQ(decision.copy->reply, "$1\r\nv\r\n");
}

TEST_F(KeyRule, NoCopyAfterAnInvalidation) {
  table_.drop_name("k", name_);
  EXPECT_EQ(ruling(), Ruling::kNoCopy);
}

TEST_F(KeyRule, ARefusedCopyIsNotHandedOut) {
  fences_.raise(name_, at(Millis(11'000)));
  EXPECT_EQ(judge_at(at(Millis(10'500))).copy, nullptr);
}

TEST_F(KeyRule, ACopyOfALostTrackerIsDead) {
  proof_.begin_generation();
  EXPECT_EQ(ruling(), Ruling::kGeneration);
}

TEST_F(KeyRule, AProofOfALaterGenerationDoesNotReviveIt) {
  proof_.begin_generation();
  proof_.prove(at(Millis(10'400)));
  EXPECT_EQ(ruling(), Ruling::kGeneration);
}

TEST_F(KeyRule, ServedUntilJustBeforeTheDeadline) {
  proof_.prove(at(Millis(20'000)));
  EXPECT_EQ(ruling_at(at(Millis(20'000)) - Nanos(1)), Ruling::kServe);
  EXPECT_EQ(ruling_at(at(Millis(20'000))), Ruling::kDeadline);
}

TEST_F(KeyRule, AFillProvesItselfForMaxStaleness) {
  EXPECT_EQ(ruling_at(at(Millis(11'000))), Ruling::kServe);
  EXPECT_EQ(ruling_at(at(Millis(11'000)) + Nanos(1)), Ruling::kUnproven);
}

TEST_F(KeyRule, AHeartbeatProvesForMaxStalenessAfterItWasSent) {
  proof_.prove(at(Millis(12'000)));
  EXPECT_EQ(ruling_at(at(Millis(13'000))), Ruling::kServe);
  EXPECT_EQ(ruling_at(at(Millis(13'000)) + Nanos(1)), Ruling::kUnproven);
}

TEST_F(KeyRule, AHeartbeatOlderThanTheFillShortensNothing) {
  proof_.prove(at(Millis(9'000)));
  EXPECT_EQ(ruling_at(at(Millis(11'000))), Ruling::kServe);
}

TEST_F(KeyRule, AFillSentAfterTheRequestWasReadMayBeServed) {
  EXPECT_EQ(ruling_at(at(Millis(9'000))), Ruling::kServe);
}

TEST_F(KeyRule, OnlyAFillSentStrictlyAfterTheFenceIsTrusted) {
  fences_.raise(name_, at(Millis(10'000)) - Nanos(1));
  EXPECT_EQ(ruling(), Ruling::kServe);
  fences_.raise(name_, at(Millis(10'000)));
  EXPECT_EQ(ruling(), Ruling::kFence);
  fill(at(Millis(10'000)) + Nanos(1));
  EXPECT_EQ(ruling(), Ruling::kServe);
}

TEST_F(KeyRule, NothingIsServedWhileAWriteIsInFlight) {
  fences_.write_begins(name_);
  EXPECT_EQ(ruling(), Ruling::kWriteInFlight);
  fill(at(Millis(10'100)));  // refuses even a copy whose fill was sent after the write began
  EXPECT_EQ(ruling(), Ruling::kWriteInFlight);
  fences_.write_ends(name_, at(Millis(10'200)));
  EXPECT_EQ(ruling(), Ruling::kFence);
  fill(at(Millis(10'300)));
  EXPECT_EQ(ruling(), Ruling::kServe);
}

TEST_F(KeyRule, WhatTheSessionWasToldOfOtherKeysDoesNotMatter) {
  session_fence_ = at(Millis(10'400));
  EXPECT_EQ(ruling(), Ruling::kServe);
}

// ---- level session

class SessionRule : public KeyRule {
 protected:
  SessionRule() : KeyRule(Level::kSession) {}
};

TEST_F(SessionRule, AFillSentStrictlyAfterWhatTheSessionWasTold) {
  session_fence_ = at(Millis(10'000)) - Nanos(1);
  EXPECT_EQ(ruling(), Ruling::kServe);
  session_fence_ = at(Millis(10'000));
  EXPECT_EQ(ruling(), Ruling::kSessionFence);
  fill(at(Millis(10'000)) + Nanos(1));
  EXPECT_EQ(ruling(), Ruling::kServe);
}

// A fill may come from a master that has been replaced: in a cluster it takes the voters' word.
TEST_F(SessionRule, AFillIsNotEnoughWithoutTheVoters) {
  session_fence_ = at(Millis(10'000));
  fill(at(Millis(10'400)));
  EXPECT_EQ(ruling(), Ruling::kServe);
  proof_.confirm_by_voters(at(Millis(10'000)));
  EXPECT_EQ(ruling(), Ruling::kSessionFence);
  proof_.confirm_by_voters(at(Millis(10'001)));
  EXPECT_EQ(ruling(), Ruling::kServe);
}

TEST_F(SessionRule, OrAHeartbeatSentStrictlyAfterIt) {
  session_fence_ = at(Millis(10'300));
  proof_.prove(at(Millis(10'300)));
  EXPECT_EQ(ruling(), Ruling::kSessionFence);
  proof_.prove(at(Millis(10'300)) + Nanos(1));
  EXPECT_EQ(ruling(), Ruling::kServe);
}

TEST_F(SessionRule, TheKeyRuleHoldsAsWell) {
  proof_.prove(at(Millis(9'000)));
  EXPECT_EQ(ruling_at(at(Millis(11'000)) + Nanos(1)), Ruling::kUnproven);
  EXPECT_EQ(ruling_at(at(Millis(20'000))), Ruling::kDeadline);
  fences_.raise(name_, at(Millis(10'000)));
  EXPECT_EQ(ruling(), Ruling::kFence);
  fences_.write_begins(name_);
  EXPECT_EQ(ruling(), Ruling::kWriteInFlight);
  proof_.begin_generation();
  EXPECT_EQ(ruling(), Ruling::kGeneration);
}

// ---- level ttl

class TtlRule : public KeyRule {
 protected:
  TtlRule() : KeyRule(Level::kTtl) {}
};

TEST_F(TtlRule, ServedUntilTheDeadlineWhateverElseIsKnown) {
  proof_.begin_generation();
  fences_.raise(name_, at(Millis(19'000)));
  fences_.write_begins(name_);
  session_fence_ = at(Millis(19'000));
  EXPECT_EQ(ruling_at(at(Millis(20'000)) - Nanos(1)), Ruling::kServe);
  EXPECT_EQ(ruling_at(at(Millis(20'000))), Ruling::kDeadline);
}

TEST_F(TtlRule, NotAfterAnInvalidationThatCame) {
  table_.drop_name("k", name_);
  EXPECT_EQ(ruling(), Ruling::kNoCopy);
}

// Runs the steps of the other threads before chosen loads of one decision. The decision makes five
// loads and calls `next_load` before each.
class Interleaving {
 public:
  static constexpr std::size_t kLoads = 6;  // of one decision
  using Step = std::function<void()>;

  // steps[i] happens just before load number due[i]; due rises.
  Interleaving(std::vector<Step> steps, std::vector<std::size_t> due)
      : steps_(std::move(steps)), due_(std::move(due)) {}

  void next_load() {
    while (done_ < steps_.size() && due_[done_] <= load_) steps_[done_++]();
    ++load_;
  }

  // Calls `play` with every rising sequence of `steps` numbers in 0 .. loads (loads: never).
  static void for_all(std::size_t steps, std::size_t loads,
                      const std::function<void(const std::vector<std::size_t>&)>& play) {
    std::vector<std::size_t> due(steps, 0);
    while (true) {
      play(due);
      std::size_t i = steps;
      while (i > 0 && due[i - 1] == loads) --i;
      if (i == 0) return;
      std::fill(due.begin() + static_cast<std::ptrdiff_t>(i) - 1, due.end(), due[i - 1] + 1);
    }
  }

 private:
  std::vector<Step> steps_;
  std::vector<std::size_t> due_;
  std::size_t done_ = 0;
  std::size_t load_ = 0;
};

// The inputs of judge(), which other threads change before each load. At first: a copy of
// generation 1 whose proof is two times max-staleness old when it is judged at 10 s. The staleness
// bound and the session fence belong to this thread and are no loads.
struct World {
  Copy copy{Generation{1}, at(Millis(8'000)), TimePoint::max(), {}, "$1\r\nv\r\n", {}, false};
  const Copy* entry_copy = &copy;
  Generation generation{1};
  TimePoint proven{at(Millis(8'000))};
  TimePoint confirmed{TimePoint::max()};
  TimePoint voted{TimePoint::max()};
  TimePoint fence{};
  bool writing = false;
  ConsistencyPolicy consistency{Level::kKey, kMaxStaleness};
  TimePoint session_fence{};
  Interleaving* others = nullptr;

  struct View {
    World* world;
    const Copy* copy(const Read&) const { return world->load(world->entry_copy); }
    NameHash name() const { return {}; }
    ConsistencyPolicy consistency() const { return world->consistency; }
    TimePoint proven_at() const { return world->load(world->proven); }
    TimePoint confirmed_at() const { return world->load(world->confirmed); }
    TimePoint voted_at() const { return world->load(world->voted); }
    TimePoint exchanges_known_at() const { return TimePoint::max(); }
    Generation generation() const { return world->load(world->generation); }
    bool write_in_flight(NameHash) const { return world->load(world->writing); }
    TimePoint fence(const View&) const { return world->load(world->fence); }
  };

  template <class T>
  T load(const T& field) {
    others->next_load();
    return field;
  }

  Ruling ruling() {
    const View view{this};
    return judge_in_order(view, Read{}, view, view, kNow, session_fence).ruling;
  }

  static constexpr TimePoint kNow{Millis(10'000)};
};

// Checks that no interleaving of `history` is served. Returns the number of interleavings.
int never_served(const std::function<std::vector<Interleaving::Step>(World&)>& history) {
  int tried = 0;
  World unused;
  const auto play = [&](const std::vector<std::size_t>& due) {
    World world;
    Interleaving others(history(world), due);
    world.others = &others;
    EXPECT_NE(world.ruling(), Ruling::kServe) << testing::PrintToString(due);
    ++tried;
  };
  Interleaving::for_all(history(unused).size(), Interleaving::kLoads, play);
  return tried;
}

TEST(KeyRuleInterleaved, AFreshProofServes) {
  World world;
  Interleaving others({[&] { world.proven = World::kNow; }}, {0});
  world.others = &others;
  EXPECT_EQ(world.ruling(), Ruling::kServe);  // so that the tests below can fail
}

// Another server becomes the master, and is then confirmed and proven.
TEST(KeyRuleInterleaved, AConfirmationOfAnotherMasterDoesNotCount) {
  EXPECT_EQ(never_served([](World& world) {
              world.confirmed = TimePoint::min();
              return std::vector<Interleaving::Step>{[&] { world.generation = Generation{2}; },
                                                     [&] { world.confirmed = World::kNow; },
                                                     [&] { world.proven = World::kNow; }};
            }),
            84);
}

// docs/decisions/0002, history 1.
TEST(KeyRuleInterleaved, AProofAfterTheInvalidationDoesNotCount) {
  EXPECT_EQ(never_served([](World& world) {
              return std::vector<Interleaving::Step>{[&] { world.entry_copy = nullptr; },
                                                     [&] { world.proven = World::kNow; }};
            }),
            28);
}

// docs/decisions/0002, history 2: the copy may still be there when the next generation is proven.
TEST(KeyRuleInterleaved, AProofOfTheNextGenerationDoesNotCount) {
  EXPECT_EQ(never_served([](World& world) {
              return std::vector<Interleaving::Step>{[&] { world.generation = Generation{2}; },
                                                     [&] { world.proven = World::kNow; },
                                                     [&] { world.entry_copy = nullptr; }};
            }),
            84);
}

// ---- level session: the client's last reply came at 9 s, from a server that had executed a write
// of this key before

void of_session(World& world) {
  world.consistency = {Level::kSession, std::chrono::seconds(10)};
  world.session_fence = at(Millis(9'000));
}

TEST(KeyRuleInterleaved, AProofSinceTheSessionWasToldServes) {
  World world;
  of_session(world);
  Interleaving others({[&] { world.proven = at(Millis(9'000)) + Nanos(1); }}, {0});
  world.others = &others;
  EXPECT_EQ(world.ruling(), Ruling::kServe);
}

// The tracker processes that write's invalidation before any proof sent after the reply.
TEST(KeyRuleInterleaved, AProofBehindTheInvalidationDoesNotCountForASession) {
  EXPECT_EQ(never_served([](World& world) {
              of_session(world);
              return std::vector<Interleaving::Step>{[&] { world.entry_copy = nullptr; },
                                                     [&] { world.proven = World::kNow; }};
            }),
            28);
}

TEST(KeyRuleInterleaved, AProofOfTheNextGenerationDoesNotCountForASession) {
  EXPECT_EQ(never_served([](World& world) {
              of_session(world);
              return std::vector<Interleaving::Step>{[&] { world.generation = Generation{2}; },
                                                     [&] { world.proven = World::kNow; },
                                                     [&] { world.entry_copy = nullptr; }};
            }),
            84);
}

// A fill sent before the reply is no proof; a fill sent after it makes a new copy.
TEST(KeyRuleInterleaved, AnOlderFillDoesNotCountForASession) {
  EXPECT_EQ(never_served([](World& world) {
              of_session(world);
              return std::vector<Interleaving::Step>{
                  [&] { world.copy.fill_sent_at = at(Millis(9'000)); },
                  [&] { world.proven = at(Millis(9'000)); }};
            }),
            28);
}

// A client writes b and then a. The tracker drops b's copy and fills a again. A session reads a and
// then b. Returns the number of interleavings that show the new a and then the old b.
int shown_new_then_old(bool in_wire_order) {
  int shown = 0;
  const auto play = [&](const std::vector<std::size_t>& due) {
    World a;
    World b;
    a.proven = b.proven = World::kNow;
    a.consistency.level = b.consistency.level = Level::kSession;
    a.entry_copy = nullptr;
    std::vector<Interleaving::Step> steps = {[&] { b.entry_copy = nullptr; },
                                             [&] { a.entry_copy = &a.copy; }};
    if (!in_wire_order) std::swap(steps[0], steps[1]);
    Interleaving others(steps, due);
    a.others = b.others = &others;
    const bool new_a = a.ruling() == Ruling::kServe;
    const bool old_b = b.ruling() == Ruling::kServe;
    shown += new_a && old_b ? 1 : 0;
  };
  Interleaving::for_all(2, 2 * Interleaving::kLoads, play);
  return shown;
}

// Why a hit need not raise the session fence for the next hit.
TEST(KeyRuleInterleaved, OneHitAfterTheOtherIsInTheTrackersOrder) {
  EXPECT_EQ(shown_new_then_old(true), 0);
  EXPECT_GT(shown_new_then_old(false), 0);  // so that the test can fail
}

// A write in flight when the request was read raises its fence before its count falls.
TEST(KeyRuleInterleaved, AWriteThatEndsMeanwhileIsSeenOneWayOrTheOther) {
  EXPECT_EQ(never_served([](World& world) {
              world.proven = World::kNow;
              world.writing = true;
              return std::vector<Interleaving::Step>{[&] { world.fence = World::kNow; },
                                                     [&] { world.writing = false; }};
            }),
            28);
}

}  // namespace
}  // namespace heatsink::cache
