// SPDX-License-Identifier: Apache-2.0
// What leaves a full hot table, by entries and by bytes.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/cache/hot_table.h"
#include "heatsink/cache/moments_for_test.h"

namespace heatsink::cache {
namespace {

class Eviction : public testing::Test {
 protected:
  Eviction() {
    make({});
    admit("k");
    insert("k", 1000);
    cost_ = table_->bytes().count;
    // Room for two copies of 1000 bytes, and a little more.
    make({.bytes_max = Bytes{2 * cost_ + 10}});
  }

  void make(HotTableLimits limits) {
    limits.retained_max = 2;
    limits.retained_bytes_max = limits.bytes_max;
    table_ = std::make_unique<HotTable>(limits, epochs_);
    reader_.quiescent();
  }
  static NameHash name(const std::string& key) { return hash_name(key, 1); }
  static KeyHash hash(const std::string& key) { return in_db(name(key), 0); }
  bool admit(const std::string& key) {
    return table_->admit(key, 0, hash(key), name(key), TimePoint{});
  }
  bool promote(const std::string& key) {
    return table_->promote(key, 0, hash(key), name(key), TimePoint{});
  }
  bool retain(const std::string& key) {
    return table_->retain(key, 0, hash(key), name(key), TimePoint{}, ConsistencyPolicy{});
  }
  bool insert(const std::string& key, std::size_t value_bytes, TimePoint sent_at = at(1)) {
    auto copy = std::make_unique<Copy>();
    copy->fill_sent_at = sent_at;
    copy->reply = std::string(value_bytes, 'v');
    return table_->insert(hash(key), std::move(copy));
  }
  bool admit(const std::string& key, std::size_t value_bytes) {
    admit(key);
    return insert(key, value_bytes);
  }
  bool is_hot(const std::string& key) const { return table_->entry(hash(key)) != nullptr; }
  bool cached(const std::string& key) const { return table_->has_copy(hash(key)); }
  Uncacheable why_not(const std::string& key) const {
    return table_->entry(hash(key))->uncacheable();
  }
  void read(const std::string& key) const { table_->find(hash(key), key, 0)->touch(); }
  std::uint64_t evicted(EvictionReason reason) const { return table_->evictions(reason).count; }

  Epochs epochs_;
  Epochs::Reader& reader_ = epochs_.add_reader();
  std::unique_ptr<HotTable> table_;
  std::size_t cost_ = 0;  // of a copy of 1000 bytes
};

TEST_F(Eviction, AnAdmittedKeyTakesTheEntryOfTheOldest) {
  make({.entries_max = 2});
  EXPECT_TRUE(admit("a"));
  EXPECT_FALSE(admit("a")) << "it is there";
  EXPECT_TRUE(admit("b"));
  EXPECT_FALSE(promote("c")) << "takes no entry of others";
  EXPECT_TRUE(admit("c"));
  EXPECT_FALSE(is_hot("a"));
  EXPECT_EQ(table_->find(hash("a"), "a", 0), nullptr);
  EXPECT_TRUE(is_hot("b"));
  EXPECT_EQ(table_->size(), 2U);
  EXPECT_EQ(evicted(EvictionReason::kEntries), 1U);
  EXPECT_EQ(evicted(EvictionReason::kBytes), 0U);
}

TEST_F(Eviction, OneThatWasReadIsPassedOverOnce) {
  for (const EvictionOrder order : {EvictionOrder::kSieve, EvictionOrder::kClock}) {
    make({.entries_max = 2});
    table_->set_order(order);
    admit("a");
    admit("b");
    read("a");
    admit("c");
    EXPECT_TRUE(is_hot("a"));
    EXPECT_FALSE(is_hot("b"));
  }
}

// SIEVE leaves what it passes over in its place, CLOCK makes it the newest.
TEST_F(Eviction, TheOrdersDiffer) {
  for (const EvictionOrder order : {EvictionOrder::kSieve, EvictionOrder::kClock}) {
    make({.entries_max = 3});
    for (const char* key : {"a", "b", "c"}) admit(key);
    table_->set_order(order);
    read("a");
    admit("d");  // for b, and the hand stands behind it
    admit("e");  // for c
    admit("f");  // SIEVE: for d, the next; CLOCK: for a, which was made newer than c only
    EXPECT_EQ(is_hot("a"), order == EvictionOrder::kSieve);
    EXPECT_EQ(is_hot("d"), order == EvictionOrder::kClock);
    EXPECT_TRUE(is_hot("e"));
  }
}

TEST_F(Eviction, TheOrderMayChangeAtAnyTime) {
  make({.entries_max = 8});
  for (int i = 0; i < 200; ++i) {
    table_->set_order(i % 3 == 0 ? EvictionOrder::kClock : EvictionOrder::kSieve);
    ASSERT_TRUE(admit("k" + std::to_string(i)));
    if (i % 5 == 0) read("k" + std::to_string(i));
    if (i % 7 == 0) table_->demote(hash("k" + std::to_string(i)));
    ASSERT_LE(table_->size(), 8U);
  }
  EXPECT_TRUE(is_hot("k199"));
}

TEST_F(Eviction, OnePassesOverNoMoreThanItsBound) {
  constexpr std::size_t kMany = 3 * EvictionQueue<Entry>::kSparedMax;
  make({.entries_max = kMany});
  for (std::size_t i = 0; i < kMany; ++i) admit(std::to_string(i));
  for (std::size_t i = 0; i < kMany; ++i) read(std::to_string(i));
  admit("new");
  EXPECT_TRUE(is_hot(std::to_string(EvictionQueue<Entry>::kSparedMax - 1)));
  EXPECT_FALSE(is_hot(std::to_string(EvictionQueue<Entry>::kSparedMax)));
}

TEST_F(Eviction, EvenOneThatIsReadAllTheTimeLeavesForAnother) {
  make({.entries_max = 1});
  admit("a");
  read("a");
  EXPECT_TRUE(admit("b"));
  EXPECT_FALSE(is_hot("a"));
}

TEST_F(Eviction, AKeyThatStaysLeavesOnlyForARetainedOne) {
  make({.entries_max = 2});
  promote("hot");
  admit("a");
  EXPECT_TRUE(admit("b")) << "for a, although it is younger";
  EXPECT_TRUE(is_hot("hot"));
  ASSERT_TRUE(table_->hold(hash("b")));
  EXPECT_FALSE(admit("c"));
  EXPECT_TRUE(retain("p"));
  EXPECT_EQ(table_->size(), 2U);
}

TEST_F(Eviction, AKeyWithoutAFillForLongLeavesInItsTurn) {
  make({});
  for (const char* key : {"a", "b", "c", "d"}) admit(key, 10);
  promote("hot");
  retain("p");
  table_->note_shown(hash("c"), at(5));
  table_->drop_unfilled(at(2), 2);
  EXPECT_FALSE(is_hot("a") || is_hot("b"));
  EXPECT_TRUE(is_hot("d")) << "it has not had its turn";
  table_->drop_unfilled(at(2), 100);
  EXPECT_FALSE(is_hot("d"));
  for (const char* key : {"c", "hot", "p"}) EXPECT_TRUE(is_hot(key)) << key;
}

TEST_F(Eviction, AWrittenKeyWhoseCopyServedNoReadLeaves) {
  make({});
  for (const char* key : {"read", "unread"}) admit(key, 10);
  promote("hot");
  insert("hot", 10);
  table_->copy(hash("read"), {})->mark_read();
  for (const char* key : {"read", "unread", "hot"}) table_->drop_name(key, name(key));
  EXPECT_TRUE(is_hot("read"));
  EXPECT_TRUE(is_hot("hot"));
  EXPECT_FALSE(is_hot("unread"));
  EXPECT_EQ(table_->left_early(), 1U);
  table_->drop_name("read", name("read"));
  EXPECT_FALSE(is_hot("read")) << "it has no copy that served";
}

TEST_F(Eviction, AWrittenKeyLeavesIfItsCopyServedTooFewReads) {
  make({});
  table_->set_reads_to_pay(3);
  for (const char* key : {"twice", "thrice"}) admit(key, 10);
  for (int i = 0; i < 2; ++i) table_->copy(hash("twice"), {})->mark_read();
  for (int i = 0; i < 3; ++i) table_->copy(hash("thrice"), {})->mark_read();
  for (const char* key : {"twice", "thrice"}) table_->drop_name(key, name(key));
  EXPECT_FALSE(is_hot("twice"));
  EXPECT_TRUE(is_hot("thrice"));
}

TEST_F(Eviction, EachCopyOfAWrittenKeyHasToPay) {
  make({});
  table_->set_reads_to_pay(3);
  admit("key", 10);
  auto field = std::make_unique<Copy>();
  field->read = StoredRead(Read{1, {}});
  ASSERT_TRUE(table_->insert(hash("key"), std::move(field)));
  for (int i = 0; i < 5; ++i) table_->copy(hash("key"), {})->mark_read();
  table_->drop_name("key", name("key"));
  EXPECT_FALSE(is_hot("key")) << "five reads of two copies";
}

TEST_F(Eviction, RetainedKeysNeverMakeRoom) {
  make({.entries_max = 2, .bytes_max = Bytes{2 * cost_ + 10}});
  retain("p");
  retain("q");
  EXPECT_FALSE(admit("a"));
  ASSERT_TRUE(insert("p", 1000));
  table_->stop_retaining(hash("q"));
  EXPECT_FALSE(admit("a")) << "it stays, although it is not retained";
  table_->release(hash("q"));
  EXPECT_TRUE(admit("a", 1000)) << "for q";
  EXPECT_FALSE(is_hot("q"));
  EXPECT_FALSE(insert("a", 2000));
  EXPECT_EQ(why_not("a"), Uncacheable::kNoRoom);
  EXPECT_TRUE(cached("p"));
}

TEST_F(Eviction, ACopyTakesTheRoomOfTheOldest) {
  admit("a", 1000);
  admit("b", 1000);
  EXPECT_TRUE(admit("c", 1000));
  EXPECT_FALSE(is_hot("a"));
  EXPECT_TRUE(cached("b"));
  EXPECT_EQ(evicted(EvictionReason::kBytes), 1U);
  EXPECT_EQ(evicted(EvictionReason::kEntries), 0U);
  EXPECT_LE(table_->bytes().count, 2 * cost_ + 10);
}

TEST_F(Eviction, APromotedKeyLosesItsCopyAloneAndWaits) {
  promote("a");
  insert("a", 1000);
  admit("b", 1000);
  EXPECT_TRUE(admit("c", 1000));
  EXPECT_TRUE(is_hot("a"));
  EXPECT_FALSE(cached("a"));
  EXPECT_EQ(why_not("a"), Uncacheable::kNoRoom);
  EXPECT_TRUE(admit("d", 1000)) << "a has nothing more to give";
  EXPECT_TRUE(is_hot("a"));
  EXPECT_FALSE(is_hot("b"));
  table_->retry(at(2000));
  EXPECT_EQ(why_not("a"), Uncacheable::kNo);
}

TEST_F(Eviction, AKeyGoesWithAllItsCopies) {
  admit("a", 400);
  auto other = std::make_unique<Copy>();
  other->read = StoredRead(Read{1, {}});
  other->reply = std::string(400, 'v');
  ASSERT_TRUE(table_->insert(hash("a"), std::move(other)));
  admit("b", 400);
  EXPECT_TRUE(admit("c", 1000));
  EXPECT_FALSE(is_hot("a"));
  EXPECT_TRUE(cached("b"));
  EXPECT_EQ(table_->copies(), 2U);
}

TEST_F(Eviction, SeveralMayGoForOne) {
  admit("a", 1000);
  admit("b", 1000);
  EXPECT_TRUE(admit("c", 1800));
  EXPECT_FALSE(is_hot("a"));
  EXPECT_FALSE(is_hot("b"));
  EXPECT_EQ(evicted(EvictionReason::kBytes), 2U);
}

TEST_F(Eviction, NothingGoesForOneLargerThanTheWholeCache) {
  admit("a", 10);
  EXPECT_FALSE(admit("b", 5000));
  EXPECT_EQ(why_not("b"), Uncacheable::kNoRoom);
  EXPECT_TRUE(cached("a"));
}

TEST_F(Eviction, ANewCopyNeedsNoRoomBesideItsOwnOldOne) {
  admit("a", 1900);
  EXPECT_TRUE(insert("a", 1900));
  EXPECT_TRUE(cached("a"));
}

TEST_F(Eviction, AKeyDoesNotGoForACopyOfItsOwn) {
  admit("a", 1000);
  admit("b", 1000);
  EXPECT_TRUE(insert("a", 1200));
  EXPECT_TRUE(cached("a"));
  EXPECT_FALSE(is_hot("b"));
}

TEST_F(Eviction, NoMoreIsInsertedWhileReadersHoldUpAsMuchAgain) {
  for (int i = 0; i < 2; ++i) admit("a", 1000);  // one is live, one waits for the reader
  EXPECT_TRUE(insert("a", 1000));
  EXPECT_FALSE(insert("a", 1000));
  EXPECT_LE(epochs_.retired_bytes(), 3 * cost_);
  reader_.quiescent();
  EXPECT_TRUE(insert("a", 1000));
}

TEST_F(Eviction, AgesAreCounted) {
  make({.entries_max = 1});
  table_->retry(at(1000));
  admit("a");
  table_->retry(at(3500));
  admit("b");
  table_->retry(at(4000));
  admit("c");
  const Evictions& seen = table_->evictions(EvictionReason::kEntries);
  EXPECT_EQ(seen.count, 2U);
  EXPECT_EQ(seen.age_sum, Millis(3000));
  EXPECT_EQ(seen.last_age, Millis(500));
}

}  // namespace
}  // namespace heatsink::cache
