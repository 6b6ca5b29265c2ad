// SPDX-License-Identifier: Apache-2.0
// The hot table follows a change of the configuration: which keys and copies stay.
#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "heatsink/cache/hot_table.h"
#include "heatsink/cache/moments_for_test.h"

namespace heatsink::cache {
namespace {

class HotTablePolicy : public testing::Test {
 protected:
  HotTablePolicy() { reader_.quiescent(); }

  static NameHash name(const std::string& key) { return hash_name(key, 1); }
  static KeyHash hash(const std::string& key) { return in_db(name(key), 0); }
  void add(const std::string& key, std::size_t bytes, Nanos life = std::chrono::seconds(10)) {
    table_.admit(key, 0, hash(key), name(key), TimePoint{});
    auto copy = std::make_unique<Copy>();
    copy->fill_sent_at = at(Millis(1));
    copy->deadline = copy->fill_sent_at + life;
    copy->reply = std::string(bytes, 'v');
    ASSERT_TRUE(table_.insert(hash(key), std::move(copy)));
  }
  bool is_hot(const std::string& key) const { return table_.entry(hash(key)) != nullptr; }
  bool cached(const std::string& key) const { return table_.has_copy(hash(key)); }

  Epochs epochs_;
  Epochs::Reader& reader_ = epochs_.add_reader();
  HotTableLimits limits_{.retained_max = 2, .retained_bytes_max = mebibytes(1)};
  HotTable table_{limits_, epochs_};
};

TEST_F(HotTablePolicy, AnotherConsistencyKeepsTheCopies) {
  add("a", 10);
  const ConsistencyPolicy next{Level::kSession, Millis(50), Nanos(0), true};
  table_.set_policies([&](const Entry&) { return std::optional(next); });
  EXPECT_TRUE(cached("a"));
  EXPECT_EQ(table_.find(hash("a"), "a", 0)->consistency(), next);
}

TEST_F(HotTablePolicy, AKeyWithoutAPolicyLeaves) {
  add("a", 10);
  add("b", 10);
  ASSERT_TRUE(table_.retain("p", 0, hash("p"), name("p"), TimePoint{}, {}));
  table_.set_policies([](const Entry& entry) -> std::optional<ConsistencyPolicy> {
    if (entry.key() == "a") return ConsistencyPolicy{};
    return std::nullopt;
  });
  EXPECT_TRUE(cached("a"));
  EXPECT_FALSE(is_hot("b"));
  EXPECT_FALSE(is_hot("p"));
  EXPECT_EQ(table_.size(), 1U);
}

TEST_F(HotTablePolicy, LowerLimitsTakeEffectAtOnce) {
  for (const char* key : {"a", "b", "c", "d"}) add(key, 1000);
  add("big", 5000);
  limits_.value_bytes_max = Bytes{2000};
  table_.set_limits(limits_);
  EXPECT_FALSE(cached("big"));
  EXPECT_TRUE(is_hot("big"));
  EXPECT_EQ(table_.copies(), 4U);
  limits_.entries_max = 3;
  table_.set_limits(limits_);
  EXPECT_EQ(table_.size(), 3U);
  limits_.bytes_max = Bytes{1500};
  table_.set_limits(limits_);
  EXPECT_LE(table_.bytes().count, 1500U);
  EXPECT_EQ(table_.copies(), 1U);
}

TEST_F(HotTablePolicy, HigherLimitsLeaveRoom) {
  limits_.entries_max = 1;
  table_.set_limits(limits_);
  add("a", 10);
  EXPECT_FALSE(table_.has_room());
  limits_.entries_max = 2;
  table_.set_limits(limits_);
  EXPECT_TRUE(table_.has_room());
  EXPECT_TRUE(cached("a"));
}

TEST_F(HotTablePolicy, CopiesThatWouldLiveTooLongGo) {
  add("short", 10, std::chrono::seconds(1));
  add("long", 10, std::chrono::seconds(9));
  table_.drop_longer_lived(std::chrono::seconds(1));
  EXPECT_TRUE(cached("short"));
  EXPECT_FALSE(cached("long"));
}

}  // namespace
}  // namespace heatsink::cache
