// SPDX-License-Identifier: Apache-2.0
// Copies that an outage of the server may serve, and copies that survive it.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "heatsink/cache/key_rule.h"
#include "heatsink/cache/moments_for_test.h"

namespace heatsink::cache {
namespace {

constexpr Nanos kStaleWhileError = Millis(30'000);

// The rule of "k" has stale-while-error, that of "plain" has not. Both are filled at 10 s until 20
// s and proven at 10.4 s. Then the tracker is lost.
class InOutage : public testing::Test {
 protected:
  InOutage() {
    promote("k", {Level::kKey, kMaxStaleness, kStaleWhileError});
    promote("plain", {Level::kKey, kMaxStaleness});
    promote("ttl", {Level::kTtl, kMaxStaleness});
    generation_ = proof_.begin_generation();
    proof_.set_up(true);
    for (const char* key : {"k", "plain", "ttl"}) fill(key);
    proof_.prove(at(10'400));
    lose();
  }

  static NameHash name_of(const std::string& key) { return hash_name(key, 1); }
  static KeyHash hash_of(const std::string& key) { return in_db(name_of(key), 0); }
  void promote(const std::string& key, const ConsistencyPolicy& consistency) {
    table_.promote(key, 0, hash_of(key), name_of(key), TimePoint{}, consistency);
  }
  void fill(const std::string& key, TimePoint value_ends = TimePoint::max()) {
    auto copy = std::make_unique<Copy>();
    copy->generation = generation_;
    copy->fill_sent_at = at(10'000);
    copy->deadline = at(20'000);
    copy->value_ends = value_ends;
    copy->reply = "$1\r\nv\r\n";
    ASSERT_TRUE(table_.insert(hash_of(key), std::move(copy)));
  }
  void lose() {
    proof_.set_up(false);
    proof_.begin_generation();
    table_.drop_for_outage();
  }
  bool is_there(const std::string& key) const { return table_.has_copy(hash_of(key)); }
  Ruling ruling(TimePoint now, const std::string& key = "k") {
    return judge_in_outage(*table_.entry(hash_of(key)), Read{}, proof_, fences_, now).ruling;
  }

  Epochs epochs_;
  HotTable table_{HotTableLimits{}, epochs_};
  ProofState proof_;
  Fences fences_{table_};
  Generation generation_;
};

TEST_F(InOutage, ServesPastItsProofAndItsOwnDeadlineAndNoLongerThanTheRuleSays) {
  EXPECT_EQ(ruling(at(10'500)), Ruling::kServe);
  EXPECT_EQ(ruling(at(40'400)), Ruling::kServe);
  EXPECT_EQ(ruling(at(40'401)), Ruling::kUnproven);
}

TEST_F(InOutage, NeverPastTheValuesOwnEnd) {
  fill("k", at(11'000));
  EXPECT_EQ(ruling(at(10'999)), Ruling::kServe);
  EXPECT_EQ(ruling(at(11'000)), Ruling::kDeadline);
}

TEST_F(InOutage, NotBehindAWriteOrWhatWasShown) {
  fences_.write_begins(name_of("k"));
  EXPECT_EQ(ruling(at(10'500)), Ruling::kWriteInFlight);
  fences_.write_ends(name_of("k"), at(10'600));
  EXPECT_EQ(ruling(at(10'700)), Ruling::kFence);
}

TEST_F(InOutage, NotWhileTheServerCanBeReached) {
  proof_.set_up(true);
  EXPECT_EQ(ruling(at(10'500)), Ruling::kUnproven);
}

TEST_F(InOutage, NothingWithoutACopyOrWithoutSuchARule) {
  table_.drop_name("k", name_of("k"));
  EXPECT_EQ(ruling(at(10'500)), Ruling::kNoCopy);
  fill("plain");
  EXPECT_EQ(ruling(at(10'500), "plain"), Ruling::kUnproven);
}

TEST_F(InOutage, StaysUntilTheProofIsBack) {
  EXPECT_TRUE(is_there("k"));
  EXPECT_FALSE(is_there("plain"));
  EXPECT_TRUE(is_there("ttl"));
  table_.drop_proof_independent();
  EXPECT_FALSE(is_there("ttl"));
  EXPECT_TRUE(is_there("k"));
  table_.drop_proof_dependent();
  EXPECT_FALSE(is_there("k"));
}

}  // namespace
}  // namespace heatsink::cache
