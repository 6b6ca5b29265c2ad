// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/copy_admission.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

using detect::Temperature;
using Kind = detect::Change::Kind;

// Keys that begin with "hot:" get copies only while they are hot; those of "off:" get none.
policy::ProxyOptions admission_options() {
  policy::ProxyOptions options;
  options.workers = 1;
  options.maximum_size = 8;
  options.warm_share = Share{0.5};
  options.rules.resize(2);
  options.rules[0].match = "hot:*";
  options.rules[0].admission = policy::Admission::kHot;
  options.rules[1].match = "off:*";
  options.rules[1].level = cache::Level::kOff;
  return options;
}

class CopyAdmissionTest : public testing::Test {
 protected:
  static KeyHash hash_of(const std::string& name) { return in_db(hash_name(name, 1), 0); }
  static detect::Verdict verdict(const std::string& name, Temperature temperature,
                                 std::uint64_t reads, std::uint64_t writes = 0) {
    detect::Verdict out;
    out.count.hash = hash_of(name);
    out.count.key = name;
    out.count.reads = reads;
    out.count.writes = writes;
    out.temperature = temperature;
    return out;
  }
  void promote(const detect::Verdict& hot) {
    const detect::Change change{.kind = Kind::kPromote, .verdict = hot};
    admission_.follow({&change, 1}, {&hot, 1}, at(0));
  }
  void demote(const std::string& name) {
    const detect::Change change{.kind = Kind::kDemote,
                                .verdict = verdict(name, Temperature::kCold, 0)};
    admission_.follow({&change, 1}, {}, at(0));
  }
  FillRequest request(const std::string& name, int fence_ms = 0) const {
    return {.worker = 0, .hash = hash_of(name), .key = name, .db = 0, .fence = at(fence_ms)};
  }
  const cache::Entry* entry(const std::string& name) { return shared_.table.entry(hash_of(name)); }
  void adopt(const policy::ProxyOptions& next) {
    const auto before = shared_.held();
    shared_.publish(std::make_shared<const PolicySnapshot>(next, redis::Credentials{},
                                                           shared_.shown, before.get()));
    admission_.set_table_policies(before->options, true);
    admission_.follow_options({});
  }

  NodeState shared_{admission_options(), net::RedisUrl{}, 1};
  Counters counters_;
  Warmer warmer_{shared_};
  CopyAdmission admission_{shared_, counters_, warmer_, at(0)};
};

TEST_F(CopyAdmissionTest, AHotKeyStaysUntilItIsNotHotAnyMore) {
  promote(verdict("hot:a", Temperature::kHot, 1000));
  ASSERT_NE(entry("hot:a"), nullptr);
  EXPECT_TRUE(entry("hot:a")->stays());
  EXPECT_EQ(counters_.read(Count::kPromotions), 1U);
  demote("hot:a");
  EXPECT_EQ(entry("hot:a"), nullptr);
  EXPECT_EQ(counters_.read(Count::kDemotions), 1U);
}

TEST_F(CopyAdmissionTest, AKeyThatMayEarnACopyKeepsItsEntryUntilItIsEvicted) {
  promote(verdict("a", Temperature::kHot, 1000));
  ASSERT_NE(entry("a"), nullptr);
  EXPECT_TRUE(entry("a")->stays());
  demote("a");
  ASSERT_NE(entry("a"), nullptr);
  EXPECT_FALSE(entry("a")->stays());
}

TEST_F(CopyAdmissionTest, AWarmedKeyStaysWhenItIsNotHotAnyMore) {
  std::string why;
  ASSERT_TRUE(warmer_.begin({"hot:a", 0}, Warmer::kByHand, at(60'000), at(0), why)) << why;
  promote(verdict("hot:a", Temperature::kHot, 1000));
  demote("hot:a");
  EXPECT_NE(entry("hot:a"), nullptr);
}

TEST_F(CopyAdmissionTest, NoEntryForAKeyOfARuleWithoutCopies) {
  promote(verdict("off:a", Temperature::kHot, 1000));
  EXPECT_EQ(entry("off:a"), nullptr);
  EXPECT_EQ(admission_.copies_for(verdict("off:a", Temperature::kHot, 1).count),
            policy::CopiesFor::kNone);
}

TEST_F(CopyAdmissionTest, NoEntryForANameThatIsCutOff) {
  detect::Verdict cut = verdict("a", Temperature::kHot, 1000);
  cut.count.key_truncated = true;
  promote(cut);
  EXPECT_EQ(entry("a"), nullptr);
}

TEST_F(CopyAdmissionTest, AHotKeyWithAsManyWritesAsReadsIsNotWorthIt) {
  const detect::Verdict written = verdict("a", Temperature::kHot, 100, 100);
  EXPECT_FALSE(admission_.is_worth_holding(written));
  promote(written);
  EXPECT_EQ(entry("a"), nullptr);
  EXPECT_TRUE(admission_.is_worth_holding(verdict("hot:a", Temperature::kHot, 100, 100)))
      << "its rule wants copies of hot keys, whatever they cost";
}

TEST_F(CopyAdmissionTest, TheReadersOfTheFleetCountToo) {
  detect::Verdict of_fleet = verdict("a", Temperature::kHot, 0, 0);
  of_fleet.fleet = {.instances = 4, .reads = 4000, .writes = 0};
  EXPECT_TRUE(admission_.is_worth_holding(of_fleet));
  of_fleet.fleet->writes = 1000;
  EXPECT_FALSE(admission_.is_worth_holding(of_fleet)) << "each write ends the copy here, too";
}

TEST_F(CopyAdmissionTest, AFillThatAsksForAnEntryIsYoungerThanTheEntry) {
  FillRequest asked = request("a", 3);
  admission_.admit(asked, at(5));
  ASSERT_NE(entry("a"), nullptr);
  EXPECT_FALSE(entry("a")->stays());
  EXPECT_EQ(asked.fence, at(5));
  FillRequest second = request("a", 3);
  admission_.admit(second, at(6));
  EXPECT_EQ(second.fence, at(3)) << "another worker was first";
}

TEST_F(CopyAdmissionTest, AFillOfAKeyThatCannotEarnACopyGetsNoEntry) {
  FillRequest asked = request("hot:a", 3);
  admission_.admit(asked, at(5));
  EXPECT_EQ(entry("hot:a"), nullptr);
  EXPECT_EQ(asked.fence, at(3));
}

TEST_F(CopyAdmissionTest, CountsTheFillsWhoseCopiesFoundNoPlace) {
  admission_.filled(request("a"), FillOutcome::kTooBig);
  admission_.filled(request("a"), FillOutcome::kNoRoom);
  admission_.filled(request("a"), FillOutcome::kTableFull);
  admission_.filled(request("a"), FillOutcome::kFailed);
  EXPECT_EQ(counters_.read(Count::kTooBig), 1U);
  EXPECT_EQ(counters_.read(Count::kNoRoom), 2U);
}

TEST_F(CopyAdmissionTest, TheBestKeysAreTheHotOnes) {
  const std::vector<detect::Verdict> verdicts{
      verdict("a", Temperature::kHot, 9), verdict("b", Temperature::kWriteHot, 8),
      verdict("c", Temperature::kHot, 7), verdict("d", Temperature::kWarm, 6)};
  const std::vector<KeyHash> best = admission_.best_keys(verdicts, 10, at(0));
  EXPECT_EQ(best, (std::vector<KeyHash>{hash_of("a"), hash_of("c")}));
}

TEST_F(CopyAdmissionTest, EntriesThatNobodyFillsLeave) {
  shared_.table.retry(at(0));  // the table knows the time by it
  FillRequest asked = request("a");
  admission_.admit(asked, at(0));
  admission_.tick(at(1000), Nanos(0));
  EXPECT_NE(entry("a"), nullptr);
  admission_.tick(at(0) + 3 * shared_.options().expire_after_write, Nanos(0));
  EXPECT_EQ(entry("a"), nullptr);
}

TEST_F(CopyAdmissionTest, AnotherConfigurationTakesTheEntriesOfKeysThatMayHaveNone) {
  promote(verdict("hot:a", Temperature::kHot, 1000));
  FillRequest asked = request("b");
  admission_.admit(asked, at(0));
  policy::ProxyOptions next = admission_options();
  next.admission = policy::Admission::kHot;  // "b" is not hot
  adopt(next);
  EXPECT_NE(entry("hot:a"), nullptr);
  EXPECT_EQ(entry("b"), nullptr);
  next.cache_enabled = false;
  adopt(next);
  EXPECT_EQ(entry("hot:a"), nullptr);
}

TEST(CopyAdmissionOfHotKeys, HasNoChoiceUntilARuleMayEarnCopies) {
  policy::ProxyOptions options;
  options.admission = policy::Admission::kHot;
  NodeState shared{options, net::RedisUrl{}, 1};
  Counters counters;
  const Warmer warmer{shared};
  CopyAdmission admission{shared, counters, warmer, at(0)};
  EXPECT_FALSE(admission.has_choice());
  EXPECT_FALSE(admission.report(at(0)).has_value());
  options.admission = policy::Admission::kPays;
  shared.publish(std::make_shared<const PolicySnapshot>(options, redis::Credentials{}, shared.shown,
                                                        shared.held().get()));
  admission.follow_options({});
  EXPECT_TRUE(admission.has_choice());
  EXPECT_TRUE(admission.report(at(0)).has_value());
}

}  // namespace
}  // namespace heatsink::copies
