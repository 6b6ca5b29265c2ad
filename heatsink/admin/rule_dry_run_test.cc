// SPDX-License-Identifier: Apache-2.0
#include "heatsink/admin/rule_dry_run.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::admin {
namespace {

using ::testing::HasSubstr;

heat::KeySum key(std::string name, double requests, std::uint32_t db = 0) {
  heat::KeySum sum{.identity = {.db = db, .name = std::move(name)}, .requests = requests};
  sum.low = requests / 1.03;
  sum.high = requests * 1.03;
  sum.peak = requests / 10;
  return sum;
}

heat::Sums sample_sums() {
  heat::Sums sums{.step = std::chrono::seconds(10), .seconds = 3600};
  sums.requests = 10'000;
  sums.unnamed = 50;
  sums.keys = {key("user:1", 5000), key("cart:1", 2000), key("user:2", 1000), key("user:x:1", 500)};
  return sums;
}

RuleDryRun run(const std::string& match, const std::vector<std::string>& matches = {},
               const heat::Sums& sums = sample_sums()) {
  const Result<RuleDryRun> out = dry_run(sums, match, matches);
  EXPECT_TRUE(out.ok()) << out.error().message;
  return out.ok() ? *out : RuleDryRun{};
}

TEST(RuleDryRun, CountsTheKeysThatMatchWithBounds) {
  const RuleDryRun of_users = run("user:*");
  EXPECT_EQ(of_users.keys, 3U);
  EXPECT_NEAR(of_users.requests_low, 6500 / 1.03, 0.1);
  EXPECT_NEAR(of_users.requests_high, 10'000 - 2000 / 1.03, 0.1)
      << "what no column names may have been theirs, but not what the cart had";
  EXPECT_EQ(of_users.requests_all, 10'000);
  ASSERT_EQ(of_users.listed.size(), 3U);
  EXPECT_EQ(of_users.listed[0].sum.identity.name, "user:1");
  EXPECT_TRUE(of_users.is_whole);
}

TEST(RuleDryRun, ASingleKeyHasACloserBound) {
  const RuleDryRun one = run("user:1");
  EXPECT_EQ(one.keys, 1U);
  EXPECT_NEAR(one.requests_low, 5000 / 1.03, 0.1);
  EXPECT_LE(one.requests_high, 5000 * 1.03 + 50 + 0.1);
  EXPECT_GE(one.requests_high, 5000);
  const RuleDryRun none = run("nothing");
  EXPECT_EQ(none.keys, 0U);
  EXPECT_EQ(none.requests_high, 50) << "as much as one key may have had unnamed";
}

TEST(RuleDryRun, AtLeastIsNeverMoreThanAllHad) {
  heat::Sums sums = sample_sums();
  // Read once in 10 s, which the scale does not tell from 1/s.
  sums.requests = 1800;
  for (heat::KeySum& each : sums.keys) {
    each.requests = each.high = 3600;
    each.low = 0;
  }
  const RuleDryRun slow = run("user:*", {"user:x:*"}, sums);
  EXPECT_EQ(slow.requests_low, 0);
  EXPECT_EQ(slow.kept_requests, 0);
  EXPECT_EQ(slow.requests_high, 1800);
  for (heat::KeySum& each : sums.keys) each.low = 1000;
  const RuleDryRun counted_twice = run("*", {}, sums);
  EXPECT_EQ(counted_twice.requests_low, 1800);
  EXPECT_EQ(counted_twice.requests_high, 1800);
  EXPECT_EQ(run("x", {"*"}, sums).requests_low, 0);
  EXPECT_EQ(run("*", {"*:*"}, sums).kept_requests, 1800);
}

TEST(RuleDryRun, AMoreSpecificRuleKeepsItsKeys) {
  const RuleDryRun of_users = run("user:*", {"user:x:*", "cart:*"});
  EXPECT_EQ(of_users.keys, 2U);
  EXPECT_EQ(of_users.kept_keys, 1U);
  EXPECT_NEAR(of_users.kept_requests, 500 / 1.03, 0.1);
  EXPECT_NEAR(of_users.requests_high, 10'000 - 2500 / 1.03, 0.1);
  EXPECT_EQ(of_users.listed[2].rule, "user:x:*");
  EXPECT_FALSE(of_users.listed[2].applies);
  EXPECT_EQ(run("user:x:*", {"user:*"}).keys, 1U) << "it is the more specific one";
  EXPECT_EQ(run("user:*", {"user:*"}).keys, 3U) << "it would replace itself";
}

TEST(RuleDryRun, ANameThatIsCutOffMayBeUndecided) {
  heat::Sums sums = sample_sums();
  sums.keys[1].identity.is_cut = true;  // begins with "cart:1"
  EXPECT_EQ(run("cart:*", {}, sums).keys, 1U) << "its beginning is enough";
  const RuleDryRun longer = run("cart:1:of:*", {}, sums);
  EXPECT_EQ(longer.keys, 0U);
  EXPECT_EQ(longer.undecided, 1U);
  EXPECT_NEAR(longer.requests_high, 10'000 - 6500 / 1.03, 0.1);
  EXPECT_EQ(run("c*9", {}, sums).undecided, 1U);
  EXPECT_EQ(run("user:9*", {}, sums).undecided, 0U);
}

TEST(RuleDryRun, HasALimitOfWork) {
  heat::Sums sums = sample_sums();
  const Result<RuleDryRun> cut = dry_run(sums, "user:*", {}, 120);
  ASSERT_TRUE(cut.ok());
  EXPECT_FALSE(cut->is_whole);
  EXPECT_EQ(cut->keys, 1U) << "the busiest come first";
  EXPECT_NEAR(cut->requests_high, 10'000, 2000) << "the bound holds without the others";
  for (int i = 0; i < 100; ++i) sums.keys.push_back(key("user:" + std::to_string(100 + i), 1));
  const RuleDryRun many = run("user:*", {}, sums);
  EXPECT_EQ(many.keys, 103U);
  EXPECT_EQ(many.listed.size(), RuleDryRun::kListedMax);
}

TEST(RuleDryRun, AWrongPatternIsNamed) {
  EXPECT_FALSE(dry_run(sample_sums(), "", {}).ok());
  const Result<RuleDryRun> longest = dry_run(sample_sums(), std::string(1025, 'a'), {});
  ASSERT_FALSE(longest.ok());
  EXPECT_THAT(longest.error().message, HasSubstr("1025 bytes"));
}

TEST(RuleDryRun, IsWrittenAsJson) {
  heat::Sums sums = sample_sums();
  sums.keys[0].identity.name = "user:\xff";
  const std::string json = dry_run_json(run("user:*", {}, sums), sums, WallTime{}, WallTime{});
  EXPECT_THAT(json, HasSubstr(R"("match":"user:*")"));
  EXPECT_THAT(json, HasSubstr(R"("keys_at_least":3)"));
  EXPECT_THAT(json, HasSubstr(R"("name":"user:\\xff")"));
  EXPECT_THAT(json, HasSubstr(R"("step_seconds":10)"));
}

}  // namespace
}  // namespace heatsink::admin
