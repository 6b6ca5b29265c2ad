// SPDX-License-Identifier: Apache-2.0
// Retained keys: no other key takes their room in the hot table.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "heatsink/cache/hot_table.h"

namespace heatsink::cache {
namespace {

class RetainedKeys : public testing::Test {
 protected:
  static NameHash name_of(const std::string& key) { return hash_name(key, 1); }
  static KeyHash hash_of(const std::string& key) { return in_db(name_of(key), 0); }

  void make(std::size_t entries_max, Bytes bytes_max = mebibytes(1),
            Bytes retained = mebibytes(1)) {
    HotTableLimits limits;
    limits.entries_max = entries_max;
    limits.bytes_max = bytes_max;
    limits.retained_max = 2;
    limits.retained_bytes_max = retained;
    table_ = std::make_unique<HotTable>(limits, epochs_);
  }
  bool promote(const std::string& key) {
    return table_->promote(key, 0, hash_of(key), name_of(key), TimePoint{});
  }
  bool retain(const std::string& key) {
    return table_->retain(key, 0, hash_of(key), name_of(key), TimePoint{}, ConsistencyPolicy{});
  }
  bool insert(const std::string& key, std::size_t bytes) {
    auto copy = std::make_unique<Copy>();
    copy->reply = std::string(bytes, 'x');
    return table_->insert(hash_of(key), std::move(copy));
  }
  bool is_hot(const std::string& key) const { return table_->entry(hash_of(key)) != nullptr; }
  bool has_copy(const std::string& key) const { return table_->has_copy(hash_of(key)); }

  Epochs epochs_;
  std::unique_ptr<HotTable> table_;
};

TEST_F(RetainedKeys, TakeThePlaceOfOneThatIsNotRead) {
  make(2);
  promote("read");
  promote("idle");
  table_->find(hash_of("read"), "read", 0)->touch();
  EXPECT_TRUE(retain("p"));
  EXPECT_FALSE(is_hot("idle"));
  EXPECT_TRUE(is_hot("read"));
  EXPECT_FALSE(promote("another")) << "the places are taken";
  EXPECT_TRUE(is_hot("p"));
}

TEST_F(RetainedKeys, AreNoMoreThanTheirLimit) {
  make(10);
  promote("a");
  EXPECT_TRUE(retain("a")) << "one that is hot already";
  EXPECT_TRUE(retain("b"));
  EXPECT_FALSE(retain("c"));
  EXPECT_TRUE(retain("a")) << "again";
  table_->demote(hash_of("a"));
  EXPECT_TRUE(retain("c")) << "one has gone";
}

TEST_F(RetainedKeys, KeepTheirRoom) {
  make(10, Bytes{2000});
  retain("p");
  ASSERT_TRUE(insert("p", 800));
  promote("hot");
  EXPECT_FALSE(insert("hot", 800));
  EXPECT_TRUE(has_copy("p"));
  table_->stop_retaining(hash_of("p"));
  EXPECT_TRUE(insert("hot", 800)) << "now it is a key as any other";
  EXPECT_FALSE(has_copy("p"));
  EXPECT_TRUE(is_hot("p"));
}

TEST_F(RetainedKeys, TakeTheRoomOfOthers) {
  make(10, Bytes{2000});
  promote("hot");
  ASSERT_TRUE(insert("hot", 800));
  retain("p");
  EXPECT_TRUE(insert("p", 800));
  EXPECT_FALSE(has_copy("hot"));
}

TEST_F(RetainedKeys, TakeNoMoreRoomThanTheirShare) {
  make(10, mebibytes(1), Bytes{2000});
  retain("a");
  retain("b");
  EXPECT_TRUE(insert("a", 800));
  EXPECT_FALSE(insert("b", 800));
  EXPECT_EQ(table_->entry(hash_of("b"))->uncacheable(), Uncacheable::kNoRoom);
  EXPECT_TRUE(insert("a", 900)) << "in the place of its own";
}

TEST_F(RetainedKeys, AnotherKeyWithTheSameHashIsRefused) {
  make(10);
  promote("a");
  EXPECT_FALSE(
      table_->retain("b", 0, hash_of("a"), name_of("b"), TimePoint{}, ConsistencyPolicy{}));
  EXPECT_FALSE(table_->entry(hash_of("a"))->retained());
}

}  // namespace
}  // namespace heatsink::cache
