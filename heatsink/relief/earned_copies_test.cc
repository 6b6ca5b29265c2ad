// SPDX-License-Identifier: Apache-2.0
// Which reads of keys without a copy ask for one (cache.admission: pays).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "heatsink/copies/worker_copies.h"
#include "heatsink/relief/copy_reader_for_test.h"
#include "heatsink/relief/copy_reads.h"
#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using copies::WorkerCopies;
using testing::IsEmpty;
using testing::SizeIs;

class EarnedCopiesTest : public ReliefTest {
 protected:
  void begin(std::initializer_list<const char*> rules = {}) {
    start(rules);
    one_ = std::make_unique<CopyReader>(1, *parts);
    two_ = std::make_unique<CopyReader>(2, *parts);
  }

  // By a client that waits for the reply before it sends more.
  Outcome get(std::string_view key) { return get(*one_, key, true); }
  Outcome get_of_another(std::string_view key) { return get(*two_, key, true); }
  Outcome get_in_pipeline(std::string_view key) { return get(*one_, key, false); }
  // Reads the key as often as it takes to earn a copy, but for the last read.
  void almost_earn(std::string_view key) {
    for (std::uint32_t i = 1; i < admit::Choice{}.reads; ++i)
      ASSERT_EQ(get(key), Outcome::kPass) << i;
    ASSERT_THAT(keeper.fills, IsEmpty());
  }
  void almost_earn_another(std::string_view key) {
    for (std::uint32_t i = 1; i < admit::Choice{}.reads; ++i)
      ASSERT_EQ(get_of_another(key), Outcome::kPass) << i;
  }
  // Since the last call.
  std::uint64_t hits_of(std::string_view key) {
    std::uint64_t hits = 0;
    for (const admit::SampledHit& each : copies->take_sample().hits)
      if (each.key == hash(key)) hits += each.hits;
    return hits;
  }
  CopyLookup::Key read_in_run(std::string_view key) {
    const Request& read = request({"GET", key});
    const std::string run(read.raw);
    ByteBuffer out;
    GetsAhead gets(run, one_->lookup);
    const CopyLookup::Key found = gets.front().key;
    const bool is_served = one_->reads.serve_run(gets, *read.facts, now, 1000, out) > 0;
    return is_served ? found : gets.front().key;
  }
  bool must_earn_in_run(std::string_view key) { return read_in_run(key).must_earn; }
  bool counts_in_run(std::string_view key) {
    return one_->reads.counts_toward_copy(read_in_run(key));
  }
  void let_the_queue_go() { pass(WorkerCopies::kQueueFor); }

  Outcome get(CopyReader& by, std::string_view key, bool is_last) {
    Request& read = request({"GET", key});
    read.now = now;
    read.is_last = read.is_alone = is_last;
    return by.reads.arrives(read);
  }

  std::unique_ptr<CopyReader> one_, two_;
};

TEST_F(EarnedCopiesTest, TheReadThatEarnsACopyWaitsForItsFill) {
  begin();
  almost_earn("k");
  EXPECT_EQ(get("k"), Outcome::kWaits);
  ASSERT_THAT(keeper.fills, SizeIs(1));
  EXPECT_TRUE(keeper.fills[0].admits);
  EXPECT_EQ(keeper.fills[0].key, "k");
}

TEST_F(EarnedCopiesTest, ACopyThatDidNotPayIsEarnedAgainWhenItsTimeIsOver) {
  begin();
  shared->admission->set_reads_to_pay(3);
  ASSERT_TRUE(
      shared->table.admit("k", 0, hash("k"), name("k"), TimePoint{}, shared->consistency_of("k")));
  fill("k", "v");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(get("k"), Outcome::kAnswered);
  pass(std::chrono::seconds(10));
  almost_earn("k");
  EXPECT_EQ(get("k"), Outcome::kWaits);
  EXPECT_THAT(keeper.fills, SizeIs(1));
  pass(std::chrono::seconds(10));
  EXPECT_EQ(get_of_another("k"), Outcome::kPass) << "its reads are counted anew";
}

// Then the read is as one of a key without a copy, and takes the short way to the server.
TEST_F(EarnedCopiesTest, ARunTellsACopyThatDidNotPayFromOneThatDid) {
  begin({"match=late*,stale-while-error=60s"});
  shared->admission->set_reads_to_pay(3);
  for (const char* key : {"paid", "lost", "late"}) {
    ASSERT_TRUE(shared->table.admit(key, 0, hash(key), name(key), TimePoint{},
                                    shared->consistency_of(key)));
    fill(key, "v");
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(get("paid"), Outcome::kAnswered);
  EXPECT_EQ(get("lost"), Outcome::kAnswered);
  EXPECT_FALSE(must_earn_in_run("lost")) << "its copy is served";
  pass(std::chrono::seconds(10));
  EXPECT_FALSE(must_earn_in_run("paid"));
  EXPECT_FALSE(must_earn_in_run("late")) << "it may be served in an outage";
  EXPECT_FALSE(must_earn_in_run("other"));
  EXPECT_TRUE(must_earn_in_run("lost"));
  // As one by one: each read counts toward the next copy, and is counted as refused.
  const std::uint64_t refused = parts->counters.read(copies::Count::kRefusedDeadline);
  for (std::uint32_t i = 1; i < admit::Choice{}.reads; ++i) EXPECT_FALSE(counts_in_run("lost"));
  EXPECT_EQ(parts->counters.read(copies::Count::kRefusedDeadline),
            refused + admit::Choice{}.reads - 1);
  EXPECT_TRUE(counts_in_run("lost"));
  EXPECT_EQ(get("lost"), Outcome::kWaits);
}

TEST_F(EarnedCopiesTest, ACopyThatPaidIsFilledAgainByTheNextRead) {
  begin();
  shared->admission->set_reads_to_pay(3);
  ASSERT_TRUE(
      shared->table.admit("k", 0, hash("k"), name("k"), TimePoint{}, shared->consistency_of("k")));
  fill("k", "v");
  for (int i = 0; i < 3; ++i) EXPECT_EQ(get("k"), Outcome::kAnswered);
  pass(std::chrono::seconds(10));
  EXPECT_EQ(get("k"), Outcome::kWaits);
}

TEST_F(EarnedCopiesTest, ACopyIsServedWhenTheUncountedWritesHaveTheirReplies) {
  begin();
  cache::WriteCounting& counting = shared->fences.counting();
  const auto follow_keys = [&] {
    return counting.follow(shared->table.none(), shared->epochs, now);
  };
  follow_keys();
  ASSERT_FALSE(counting.counts()) << "nothing is hot";
  copies::Effects write;
  write.keys.add({name("other"), hash("other"), true});
  copies->begin_writes(write);
  heat("k");
  EXPECT_TRUE(follow_keys());
  fill("k", "v");
  pass(Millis(1));
  EXPECT_NE(get("k"), Outcome::kAnswered) << "the uncounted write may be one of k";
  copies->settle(write, nullptr, now);
  EXPECT_FALSE(follow_keys());
  EXPECT_EQ(get_of_another("k"), Outcome::kAnswered);
}

// A client that reads its replies slowly may keep such a write in flight for any time.
TEST_F(EarnedCopiesTest, AWriteOnAPrivateConnectionHoldsUpItsOwnKeyOnly) {
  begin();
  cache::WriteCounting& counting = shared->fences.counting();
  counting.follow(true, shared->epochs, now);
  ASSERT_FALSE(counting.counts()) << "nothing is hot";
  copies::Effects write;
  write.keys.add({name("other"), hash("other"), true});
  copies->begin_writes(write, true);
  heat("k");
  heat("other");
  EXPECT_FALSE(counting.follow(false, shared->epochs, now)) << "all writes are counted";
  EXPECT_TRUE(shared->fences.write_in_flight(name("other")));
  EXPECT_FALSE(shared->fences.write_in_flight(name("k")));
  copies->settle(write, nullptr, now);
  EXPECT_FALSE(shared->fences.write_in_flight(name("other")));
}

// A write that was sent uncounted raises the fence as every other one.
TEST_F(EarnedCopiesTest, AnUncountedWriteEndsTheCopyThatWasFilledMeanwhile) {
  begin();
  cache::WriteCounting& counting = shared->fences.counting();
  counting.follow(true, shared->epochs, now);
  copies::Effects write;
  write.keys.add({name("k"), hash("k"), true});
  copies->begin_writes(write);
  heat("k");
  fill("k", "old");
  pass(Millis(1));
  copies->settle(write, nullptr, now);
  EXPECT_FALSE(counting.follow(false, shared->epochs, now));
  EXPECT_NE(get("k"), Outcome::kAnswered);
}

TEST_F(EarnedCopiesTest, AHotKeyDoesNotHaveToEarnItsCopies) {
  begin();
  shared->admission->set_reads_to_pay(3);
  heat("k");
  fill("k", "v");
  pass(std::chrono::seconds(10));
  EXPECT_EQ(get("k"), Outcome::kWaits);
}

TEST_F(EarnedCopiesTest, ReadsThatEarnNoCopyAreCounted) {
  begin();
  almost_earn("k");
  EXPECT_EQ(count(copies::Count::kSeldomRead), admit::Choice{}.reads - 1);
  static_cast<void>(get("k"));
  EXPECT_EQ(count(copies::Count::kSeldomRead), admit::Choice{}.reads - 1);
}

TEST_F(EarnedCopiesTest, NoKeyEarnsOneWhereOnlyHotKeysGetCopies) {
  options.admission = policy::Admission::kHot;
  begin();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(get("k"), Outcome::kPass);
  EXPECT_THAT(keeper.fills, IsEmpty());
}

TEST_F(EarnedCopiesTest, ARuleDecidesForItsKeys) {
  begin({"match=off:*,admission=off", "match=hot:*,admission=hot"});
  for (int i = 0; i < 20; ++i) {
    EXPECT_EQ(get("off:k"), Outcome::kPass);
    EXPECT_EQ(get("hot:k"), Outcome::kPass);
  }
  almost_earn("k");
  EXPECT_EQ(get("k"), Outcome::kWaits);
}

// Then each of them would wake the keeper and the server alone, and together they need not.
TEST_F(EarnedCopiesTest, WhereFillsComeOftenNoReadWaitsForOne) {
  begin();
  for (std::uint32_t i = 0; i < copies::FillPace::kOften; ++i) {
    const std::string key = "k" + std::to_string(i);
    almost_earn_another(key);
    EXPECT_EQ(get_of_another(key), Outcome::kWaits) << i;
  }
  almost_earn_another("k");
  EXPECT_EQ(get_of_another("k"), Outcome::kPass);
  EXPECT_THAT(keeper.fills, SizeIs(copies::FillPace::kOften));
  let_the_queue_go();
  EXPECT_THAT(keeper.fills, SizeIs(copies::FillPace::kOften + 1));
}

// Each of its reads would wait for a fill of its own.
TEST_F(EarnedCopiesTest, AClientThatPipelinesDoesNotWait) {
  begin();
  almost_earn("k");
  EXPECT_EQ(get_in_pipeline("k"), Outcome::kPass);
  EXPECT_THAT(keeper.fills, IsEmpty());
  let_the_queue_go();
  ASSERT_THAT(keeper.fills, SizeIs(1));
  EXPECT_TRUE(keeper.fills[0].admits);
}

TEST_F(EarnedCopiesTest, NorDoesOneWhoseLastReplyIsOnItsWay) {
  begin();
  almost_earn("k");
  one_->client.traffic.sent = 1;
  EXPECT_EQ(get("k"), Outcome::kPass);
  let_the_queue_go();
  EXPECT_THAT(keeper.fills, SizeIs(1));
}

TEST_F(EarnedCopiesTest, FillsThatNobodyWaitsForAreRequestedTogether) {
  begin();
  almost_earn("a");
  almost_earn("b");
  get_in_pipeline("a");
  pass(WorkerCopies::kQueueFor / 2);
  get_in_pipeline("b");
  get_in_pipeline("a");
  EXPECT_THAT(keeper.fills, IsEmpty());
  pass(WorkerCopies::kQueueFor / 2);
  EXPECT_THAT(keeper.fills, SizeIs(2));
  let_the_queue_go();
  EXPECT_THAT(keeper.fills, SizeIs(2)) << "once each";
}

// The reply to the read that wants a copy would end the copy of a fill that was sent before it
// came.
TEST_F(EarnedCopiesTest, ManyFillsAreRequestedTogetherOnceTheirReadsHaveTheirReplies) {
  begin();
  for (std::size_t i = 0; i < WorkerCopies::kFullBatch; ++i) {
    const std::string key = "k" + std::to_string(i);
    for (std::uint32_t n = 0; n < admit::Choice{}.reads; ++n) get_in_pipeline(key);
  }
  pass(WorkerCopies::kReadUnderWay / 2);
  almost_earn("late");
  get_in_pipeline("late");
  EXPECT_THAT(keeper.fills, IsEmpty());
  pass(WorkerCopies::kReadUnderWay / 2);
  EXPECT_THAT(keeper.fills, SizeIs(WorkerCopies::kFullBatch));
  let_the_queue_go();
  EXPECT_THAT(keeper.fills, SizeIs(WorkerCopies::kFullBatch + 1));
}

// While a key is not in the table, what clients are shown of it raises no fence. A fill that was
// requested before may be older than that.
TEST_F(EarnedCopiesTest, AReaderJoinsNoEarlierFillOfAKeyThatIsNotInTheTable) {
  begin();
  almost_earn("k");
  EXPECT_EQ(get("k"), Outcome::kWaits);
  pass(std::chrono::milliseconds(1));
  const TimePoint after = now - Nanos(1);
  Outcome last = Outcome::kPass;
  for (std::uint32_t i = 0; i < admit::Choice{}.reads; ++i) last = get_of_another("k");
  EXPECT_EQ(last, Outcome::kWaits);
  ASSERT_THAT(keeper.fills, SizeIs(2));
  EXPECT_GE(keeper.fills[1].fence, after);
}

TEST_F(EarnedCopiesTest, ReadersOfAKeyOfTheTableWaitOnlyIfItIsHot) {
  begin();
  ASSERT_TRUE(
      shared->table.admit("k", 0, hash("k"), name("k"), TimePoint{}, shared->consistency_of("k")));
  heat("hot");
  EXPECT_EQ(get_in_pipeline("k"), Outcome::kPass);
  EXPECT_THAT(keeper.fills, IsEmpty());
  EXPECT_EQ(get_in_pipeline("hot"), Outcome::kWaits)
      << "many others would ask the server meanwhile";
  EXPECT_THAT(keeper.fills, SizeIs(1));
  let_the_queue_go();
  ASSERT_THAT(keeper.fills, SizeIs(2));
  EXPECT_FALSE(keeper.fills[1].admits) << "it is in the table";
}

// Its reply from the server would end the copy that the fill makes.
TEST_F(EarnedCopiesTest, AReaderInAPipelineJoinsTheFillOfAKeyOfTheTable) {
  begin();
  ASSERT_TRUE(
      shared->table.admit("k", 0, hash("k"), name("k"), TimePoint{}, shared->consistency_of("k")));
  EXPECT_EQ(get("k"), Outcome::kWaits);
  EXPECT_EQ(get(*two_, "k", false), Outcome::kWaits);
  EXPECT_THAT(keeper.fills, SizeIs(1));
}

// Otherwise the replies of a key that is always read would end each of its copies.
TEST_F(EarnedCopiesTest, AReaderInAPipelineWaitsIfTheLastCopyWasOutrun) {
  begin();
  ASSERT_TRUE(
      shared->table.admit("k", 0, hash("k"), name("k"), TimePoint{}, shared->consistency_of("k")));
  fill("k", "v");
  pass(std::chrono::milliseconds(1));
  shared->fences.raise(name("k"), now);
  EXPECT_EQ(get_in_pipeline("k"), Outcome::kWaits);
  EXPECT_THAT(keeper.fills, SizeIs(1));
}

// A queued fill escapes the limit, so it is not made. Such a key gets its copy by a read that
// waits.
TEST_F(EarnedCopiesTest, AKeyWithALimitGetsItsCopyWhereFillsComeOften) {
  begin({"match=k,limit.rate=1000/s"});
  while (!copies->fills_come_often(now)) continue;
  almost_earn("k");
  EXPECT_EQ(get("k"), Outcome::kWaits);
}

// While its fill is queued, so many reads would go to the server.
TEST_F(EarnedCopiesTest, TheBusiestKeysWaitForTheirNextCopyWhereFillsComeOften) {
  begin();
  for (const char* key : {"busy", "seldom"}) {
    ASSERT_TRUE(shared->table.admit(key, 0, hash(key), name(key), TimePoint{},
                                    shared->consistency_of(key)));
    fill(key, "v");
  }
  EXPECT_EQ(get("seldom"), Outcome::kAnswered);
  for (int i = 0; i < cache::Copy::kReadsCounted; ++i) EXPECT_EQ(get("busy"), Outcome::kAnswered);
  pass(std::chrono::seconds(10));
  while (!copies->fills_come_often(now)) continue;
  EXPECT_EQ(get("seldom"), Outcome::kPass);
  EXPECT_EQ(get("busy"), Outcome::kWaits);
}

TEST_F(EarnedCopiesTest, NoFillEscapesALimit) {
  begin({"match=k,limit.rate=1000/s"});
  almost_earn("k");
  EXPECT_EQ(get_in_pipeline("k"), Outcome::kPass);
  let_the_queue_go();
  EXPECT_THAT(keeper.fills, IsEmpty());
}

// They are filled whatever fills cost, and come alone.
TEST_F(EarnedCopiesTest, FillsOfHeldKeysDoNotCountTowardWhatOthersCost) {
  begin();
  for (const char* key : {"a", "b"})
    ASSERT_TRUE(shared->table.admit(key, 0, hash(key), name(key), TimePoint{},
                                    shared->consistency_of(key)));
  heat("hot");
  for (const char* key : {"a", "hot"}) EXPECT_EQ(get(key), Outcome::kWaits);
  EXPECT_EQ(get_in_pipeline("b"), Outcome::kPass);
  let_the_queue_go();
  EXPECT_THAT(keeper.fills, SizeIs(3));
  copies->saw(hash("a"), false);  // a worker tells its work only together with an access or a hit
  const copies::ServerWork work = copies->take_sample().work;
  EXPECT_EQ(work.awaited_fills, 1U);
  EXPECT_EQ(work.queued_fills, 1U);
}

// Each way of serving a hit counts it for the list of the copies that save most.
TEST_F(EarnedCopiesTest, HitsAreSampledForTheKeeper) {
  begin();
  for (const char* key : {"a", "b"}) {
    ASSERT_TRUE(shared->table.admit(key, 0, hash(key), name(key), TimePoint{},
                                    shared->consistency_of(key)));
    fill(key, key);
  }
  EXPECT_EQ(get("a"), Outcome::kAnswered);
  EXPECT_EQ(hits_of("a"), 1U);
  EXPECT_EQ(one_->reads.arrives(request({"MGET", "a", "b"})), Outcome::kAnswered);
  EXPECT_EQ(hits_of("b"), 1U);
  const Request& read = request({"GET", "a"});
  const std::string run = std::string(read.raw) + std::string(read.raw);
  ByteBuffer out;
  GetsAhead gets(run, one_->lookup);
  EXPECT_EQ(one_->reads.serve_run(gets, *read.facts, now, 1000, out), run.size());
  EXPECT_EQ(hits_of("a"), 2U);
  EXPECT_EQ(get("other"), Outcome::kPass);
  EXPECT_THAT(copies->take_sample().hits, IsEmpty());
}

TEST_F(EarnedCopiesTest, WhereOnlyHotKeysGetCopiesNoHitIsSampled) {
  options.admission = policy::Admission::kHot;
  begin();
  heat("k");
  fill("k", "v");
  EXPECT_EQ(get("k"), Outcome::kAnswered);
  EXPECT_TRUE(copies->take_sample().empty());
}

}  // namespace
}  // namespace heatsink::proxy
