// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/hot_table.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/cache/moments_for_test.h"

namespace heatsink::cache {
namespace {

constexpr std::uint64_t kNamesSeed = 42;

NameHash name_of(std::string_view key) { return hash_name(key, kNamesSeed); }
KeyHash hash_of(std::string_view key, std::uint32_t db = 0) { return in_db(name_of(key), db); }

std::string bulk(std::size_t value_bytes) {
  return "$" + std::to_string(value_bytes) + "\r\n" + std::string(value_bytes, 'v') + "\r\n";
}

std::unique_ptr<const Copy> value(std::size_t value_bytes, TimePoint sent_at = at(Millis(1))) {
  auto copy = std::make_unique<Copy>();
  copy->fill_sent_at = sent_at;
  copy->reply = bulk(value_bytes);
  return copy;
}

constexpr std::string_view kField = "field";
const Read kOtherRead{1, {&kField, 1}};

std::unique_ptr<const Copy> answer_to(std::uint16_t command, TimePoint sent_at) {
  auto copy = std::make_unique<Copy>();
  copy->fill_sent_at = sent_at;
  copy->read = StoredRead(Read{command, {&kField, 1}});
  copy->reply = ":" + std::to_string(command) + "\r\n";
  return copy;
}

std::unique_ptr<const Copy> nil() {
  auto copy = std::make_unique<Copy>();
  copy->fill_sent_at = at(Millis(1));
  copy->nil = true;
  return copy;
}

class HotTableTest : public testing::Test {
 protected:
  HotTableTest() { make({}); }

  void make(const HotTableLimits& limits) {
    table_ = std::make_unique<HotTable>(limits, epochs_);
    reader_.quiescent();
  }

  bool promote(std::string_view key, std::uint32_t db = 0) {
    return table_->promote(key, db, hash_of(key, db), name_of(key), TimePoint{});
  }
  const Entry* find(std::string_view key, std::uint32_t db = 0) {
    return table_->find(hash_of(key, db), key, db);
  }
  const Entry& entry(std::string_view key, std::uint32_t db = 0) {
    return *table_->entry(hash_of(key, db));
  }

  Epochs epochs_;
  Epochs::Reader& reader_ = epochs_.add_reader();
  std::unique_ptr<HotTable> table_;
};

TEST_F(HotTableTest, AnEmptyTableHasNothing) {
  EXPECT_EQ(find("k"), nullptr);
  EXPECT_FALSE(table_->has(hash_of("k")));
  EXPECT_EQ(table_->size(), 0U);
}

TEST_F(HotTableTest, APromotionIsSeenAtOnce) {
  EXPECT_TRUE(table_->none());
  EXPECT_TRUE(promote("k"));
  EXPECT_FALSE(table_->none());
  ASSERT_NE(find("k"), nullptr);
  EXPECT_EQ(find("k"), table_->entry(hash_of("k")));
  EXPECT_EQ(find("k")->key(), "k");
  EXPECT_EQ(find("k")->copy({}), nullptr);
  EXPECT_TRUE(table_->has(hash_of("k")));
}

TEST_F(HotTableTest, ADemotionTakesTheEntryAndItsCopyAtOnce) {
  promote("k");
  table_->insert(hash_of("k"), value(1));
  const Entry* seen = find("k");
  table_->demote(hash_of("k"));
  EXPECT_EQ(find("k"), nullptr);
  EXPECT_FALSE(table_->has(hash_of("k")));
  EXPECT_TRUE(table_->none());
  EXPECT_EQ(seen->copy({}), nullptr);
  epochs_.collect();
  EXPECT_EQ(seen->key(), "k");  // the reader had no quiescent state: asan checks this
  EXPECT_GT(epochs_.retired(), 0U);
  reader_.quiescent();
  epochs_.collect();
  EXPECT_EQ(epochs_.retired(), 0U);
}

TEST_F(HotTableTest, OnePromotedAgainIsAnotherEntry) {
  promote("k");
  const Entry* const old = find("k");
  table_->demote(hash_of("k"));
  EXPECT_TRUE(promote("k"));
  EXPECT_TRUE(table_->insert(hash_of("k"), value(1)));
  EXPECT_NE(find("k"), old);
  EXPECT_EQ(old->copy({}), nullptr);
  EXPECT_NE(find("k")->copy({}), nullptr);
  table_->drop_name("k", name_of("k"));
  EXPECT_EQ(find("k")->copy({}), nullptr);
}

TEST_F(HotTableTest, DemotingWhatIsNotHotDoesNothing) {
  table_->demote(hash_of("k"));
  table_->mark(hash_of("k"), Uncacheable::kTooBig, at(Millis(0)));
  table_->drop_name("k", name_of("k"));
  EXPECT_EQ(table_->size(), 0U);
}

TEST_F(HotTableTest, AKeyIsPromotedOnceAndAtMostEntriesMax) {
  make({.entries_max = 2});
  EXPECT_TRUE(promote("a"));
  EXPECT_FALSE(promote("a"));
  EXPECT_TRUE(promote("b"));
  EXPECT_FALSE(promote("c"));
  table_->demote(hash_of("a"));
  EXPECT_TRUE(promote("c"));
}

TEST_F(HotTableTest, FindsEveryOneOfMany) {
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(promote("key:" + std::to_string(i)));
  for (int i = 0; i < 1000; ++i) {
    const std::string key = "key:" + std::to_string(i);
    ASSERT_NE(find(key), nullptr) << key;
    ASSERT_EQ(find(key)->key(), key);
  }
  for (int i = 1000; i < 2000; ++i) ASSERT_EQ(find("key:" + std::to_string(i)), nullptr);
}

TEST_F(HotTableTest, TheHashAloneIsNotTheKey) {
  promote("k");
  EXPECT_EQ(table_->find(hash_of("k"), "other", 0), nullptr);
  EXPECT_EQ(table_->find(hash_of("k"), "k", 1), nullptr);
}

TEST_F(HotTableTest, TwoKeysOfOneHashCannotBothBeHot) {
  promote("k");
  EXPECT_FALSE(
      table_->promote("other", 0, hash_of("k"), NameHash{hash_of("k").value}, TimePoint{}));
}

TEST_F(HotTableTest, ANameIsDroppedInEveryDatabaseAndNoOther) {
  for (std::uint32_t db : {0U, 1U, 7U}) {
    promote("k", db);
    table_->insert(hash_of("k", db), value(db + 1));
  }
  promote("other");
  table_->insert(hash_of("other"), value(1));
  EXPECT_EQ(entry("k", 7).copy({})->reply, bulk(8));
  table_->demote(hash_of("k", 1));  // the name's entries in other databases stay
  table_->drop_name("k", name_of("k"));
  EXPECT_EQ(entry("k", 0).copy({}), nullptr);
  EXPECT_EQ(entry("k", 7).copy({}), nullptr);
  EXPECT_NE(entry("other").copy({}), nullptr);
  EXPECT_EQ(table_->copies(), 1U);
}

TEST_F(HotTableTest, DropAllLeavesTheKeysHot) {
  for (const char* key : {"a", "b"}) {
    promote(key);
    table_->insert(hash_of(key), value(1));
  }
  table_->drop_all();
  EXPECT_EQ(table_->copies(), 0U);
  EXPECT_EQ(table_->bytes().count, 0U);
  EXPECT_EQ(table_->size(), 2U);
}

TEST_F(HotTableTest, ADroppedKeyStaysHotAndNoEarlierFillCounts) {
  for (const char* key : {"k", "other"}) {
    promote(key);
    table_->insert(hash_of(key), value(1));
  }
  table_->note_sent(at(Millis(9)));
  table_->drop_key(hash_of("k"), at(Millis(5)));
  EXPECT_FALSE(table_->has_copy(hash_of("k")));
  EXPECT_EQ(entry("k").fence(), at(Millis(9))) << "a fill that was sent before may be under way";
  EXPECT_TRUE(table_->has_copy(hash_of("other")));
  table_->drop_key(hash_of("k"), at(Millis(20)));
  EXPECT_EQ(entry("k").fence(), at(Millis(20)));
  table_->drop_key(hash_of("nothing"), at(Millis(20)));
  EXPECT_EQ(table_->size(), 2U);
}

TEST_F(HotTableTest, ADroppedKeyThatHadEarnedItsCopyHasToEarnItAgain) {
  table_->admit("k", 0, hash_of("k"), name_of("k"), TimePoint{});
  table_->insert(hash_of("k"), value(1));
  table_->drop_key(hash_of("k"), at(Millis(5)));
  EXPECT_FALSE(table_->has(hash_of("k")));
}

TEST_F(HotTableTest, ACopyWithoutProofOutlivesTheProof) {
  table_->promote("ttl", 0, hash_of("ttl"), name_of("ttl"), TimePoint{}, {Level::kTtl, Nanos(0)});
  promote("key");
  for (const char* key : {"ttl", "key"}) table_->insert(hash_of(key), value(1));
  table_->drop_proof_dependent();
  EXPECT_NE(entry("ttl").copy({}), nullptr);
  EXPECT_EQ(entry("key").copy({}), nullptr);
  table_->drop_name("ttl", name_of("ttl"));
  EXPECT_EQ(entry("ttl").copy({}), nullptr);
  EXPECT_EQ(table_->copies(), 0U);
}

TEST_F(HotTableTest, AKeyKeepsTheTermsOfItsPromotion) {
  const ConsistencyPolicy consistency{Level::kSession, Millis(300)};
  table_->promote("k", 0, hash_of("k"), name_of("k"), TimePoint{}, consistency);
  EXPECT_EQ(entry("k").consistency(), consistency);
}

TEST_F(HotTableTest, BytesAreCountedAndComeBack) {
  promote("k");
  table_->insert(hash_of("k"), value(1));
  const std::size_t small = table_->bytes().count;
  table_->insert(hash_of("k"), value(101));
  EXPECT_EQ(table_->bytes().count, small + 100 + 2);  // two digits more in the length
  EXPECT_EQ(table_->copies(), 1U);
  table_->demote(hash_of("k"));
  EXPECT_EQ(table_->bytes().count, 0U);
  EXPECT_EQ(table_->copies(), 0U);
}

TEST_F(HotTableTest, InsertingWhatIsHotNoLongerIsRefused) {
  EXPECT_FALSE(table_->insert(hash_of("k"), value(1)));
  EXPECT_EQ(table_->bytes().count, 0U);
}

TEST_F(HotTableTest, AValueMayBeExactlyAsLargeAsTheLimit) {
  for (const std::size_t limit : {9U, 10U, 99U, 1000U}) {
    make({.value_bytes_max = Bytes{limit}});
    promote("k");
    EXPECT_TRUE(table_->insert(hash_of("k"), value(limit))) << limit;
    EXPECT_FALSE(table_->insert(hash_of("k"), value(limit + 1))) << limit;
    EXPECT_EQ(entry("k").uncacheable(), Uncacheable::kTooBig);
    EXPECT_EQ(entry("k").copy({}), nullptr);  // the old copy was older than the refused one
  }
}

TEST_F(HotTableTest, AKeyHasACopyPerRead) {
  promote("k");
  EXPECT_FALSE(table_->has_copy(hash_of("k")));
  EXPECT_EQ(table_->reply_size(hash_of("k")), std::nullopt);
  table_->insert(hash_of("k"), value(1));
  table_->insert(hash_of("k"), answer_to(1, at(Millis(1))));
  EXPECT_EQ(table_->reply_size(hash_of("k")), Bytes{bulk(1).size()}) << "the longest";
  EXPECT_EQ(entry("k").copy({})->reply, bulk(1));
  ASSERT_NE(entry("k").copy(kOtherRead), nullptr);
  EXPECT_EQ(entry("k").copy(kOtherRead)->reply, ":1\r\n");
  EXPECT_EQ(entry("k").copy(Read{1, {}}), nullptr);
  EXPECT_EQ(table_->copies(), 2U);
  EXPECT_TRUE(table_->has_copy(hash_of("k")));
}

TEST_F(HotTableTest, AnInvalidationDropsTheCopiesOfAllReads) {
  promote("k");
  table_->insert(hash_of("k"), value(1));
  table_->insert(hash_of("k"), answer_to(1, at(Millis(1))));
  table_->drop_name("k", name_of("k"));
  EXPECT_EQ(entry("k").copy({}), nullptr);
  EXPECT_EQ(entry("k").copy(kOtherRead), nullptr);
  EXPECT_EQ(table_->copies(), 0U);
  EXPECT_EQ(table_->bytes().count, 0U);
}

TEST_F(HotTableTest, PastTheirNumberTheCopyFilledFirstMakesPlace) {
  promote("k");
  for (std::uint16_t i = 0; i < Entry::kCopiesMax; ++i)
    table_->insert(hash_of("k"), answer_to(i, at(Millis(i == 3 ? 1 : 10 + i))));
  table_->insert(hash_of("k"), answer_to(100, at(Millis(100))));
  EXPECT_EQ(table_->copies(), Entry::kCopiesMax);
  EXPECT_EQ(entry("k").copy(Read{3, {&kField, 1}}), nullptr);
  EXPECT_NE(entry("k").copy(Read{0, {&kField, 1}}), nullptr);
  EXPECT_NE(entry("k").copy(Read{100, {&kField, 1}}), nullptr);
}

TEST_F(HotTableTest, WhatConcernsOneReadLeavesTheOthersAlone) {
  promote("k");
  table_->insert(hash_of("k"), answer_to(1, at(Millis(1))));
  table_->mark(hash_of("k"), Uncacheable::kWrongType, at(Millis(2)));
  EXPECT_FALSE(concerns_whole_key(entry("k").uncacheable()));
  EXPECT_NE(entry("k").copy(kOtherRead), nullptr);
  table_->mark(hash_of("k"), Uncacheable::kNoRoom, at(Millis(2)));
  EXPECT_EQ(entry("k").copy(kOtherRead), nullptr);
}

TEST_F(HotTableTest, BothFormsOfAReplyAreCountedAndLimited) {
  make({.value_bytes_max = Bytes{100}});
  promote("k");
  const auto copy_with = [](const std::string& resp2) {
    auto copy = std::make_unique<Copy>();
    copy->reply = bulk(10);
    copy->resp2 = resp2;
    return copy;
  };
  table_->insert(hash_of("k"), copy_with(""));
  const std::size_t one_form = table_->bytes().count;
  EXPECT_EQ(copy_with(bulk(20))->reply_in(true), bulk(10));
  EXPECT_EQ(copy_with(bulk(20))->reply_in(false), bulk(20));
  table_->insert(hash_of("k"), copy_with(bulk(20)));
  EXPECT_EQ(table_->bytes().count, one_form + bulk(20).size());
  EXPECT_FALSE(table_->insert(hash_of("k"), copy_with(bulk(101))));
}

TEST_F(HotTableTest, NilsHaveAQuota) {
  make({.nil_max = 1});
  promote("a");
  promote("b");
  EXPECT_TRUE(table_->insert(hash_of("a"), nil()));
  EXPECT_TRUE(table_->insert(hash_of("a"), nil()));  // replaces itself
  EXPECT_FALSE(table_->insert(hash_of("b"), nil()));
  EXPECT_EQ(entry("b").uncacheable(), Uncacheable::kNilQuota);
  EXPECT_TRUE(table_->insert(hash_of("b"), value(1)));  // a value does not count as nil
  table_->drop_name("a", name_of("a"));
  EXPECT_TRUE(table_->insert(hash_of("b"), nil()));
}

TEST_F(HotTableTest, AMarkLastsUntilRetryAndSurvivesWrites) {
  make({.retry_after = Millis(1000)});
  promote("k");
  table_->insert(hash_of("k"), value(1));
  table_->mark(hash_of("k"), Uncacheable::kNoRoom, at(Millis(500)));
  EXPECT_EQ(entry("k").copy({}), nullptr);
  table_->drop_name("k", name_of("k"));
  table_->retry(at(Millis(1500)) - Nanos(1));
  EXPECT_EQ(entry("k").uncacheable(), Uncacheable::kNoRoom);
  table_->retry(at(Millis(1500)));
  EXPECT_EQ(entry("k").uncacheable(), Uncacheable::kNo);
}

TEST_F(HotTableTest, AnInsertedCopyLiftsTheMark) {
  promote("k");
  table_->mark(hash_of("k"), Uncacheable::kTooBig, at(Millis(1)));
  EXPECT_TRUE(table_->insert(hash_of("k"), value(1)));
  EXPECT_EQ(entry("k").uncacheable(), Uncacheable::kNo);
}

TEST_F(HotTableTest, EveryReasonIsASentence) {
  EXPECT_STREQ(to_string(Uncacheable::kNo), "");
  for (Uncacheable why :
       {Uncacheable::kTooBig, Uncacheable::kWrongType, Uncacheable::kNoRoom, Uncacheable::kNilQuota,
        Uncacheable::kNoDatabase, Uncacheable::kTableFull}) {
    EXPECT_GT(std::string(to_string(why)).size(), 10U);
  }
}

}  // namespace
}  // namespace heatsink::cache
