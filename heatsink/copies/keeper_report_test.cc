// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/keeper_report.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/copies/keeper_parts_for_test.h"

namespace heatsink::copies {
namespace {

policy::ProxyOptions report_options() {
  policy::ProxyOptions options;
  options.workers = 1;
  options.hot_qps = 100;
  options.warm_qps = 50;
  return options;
}

class KeeperReportTest : public testing::Test {
 protected:
  explicit KeeperReportTest(policy::KeyDisplay shown = {})
      : parts_(report_options(), std::move(shown)) {}

  static KeyHash hash_of(const std::string& name) { return in_db(hash_name(name, 1), 0); }
  // So many reads of each key in the window of ten seconds, a half of them hits.
  void judge(const std::vector<std::pair<std::string, std::uint64_t>>& reads) {
    detect::Summary summary;
    summary.window = summary.covered = parts_.shared.options().window;
    summary.covers_window = true;
    for (const auto& [name, count] : reads) {
      detect::KeyCount& key = summary.keys.emplace_back();
      key.hash = hash_of(name);
      key.key = name.substr(0, detect::kKeyBytesMax);
      key.key_truncated = name.size() > detect::kKeyBytesMax;
      key.low = key.high = key.reads = count;
      key.hits = count / 2;
      summary.requests += count;
      summary.reads += count;
      summary.hits += count / 2;
    }
    parts_.hot_keys.take(0, summary);
    static_cast<void>(parts_.hot_keys.judge(at(0)));
  }
  void warm(const std::string& name) {
    report::WarmOrder order;
    order.keys = {{name, 0}};
    order.lasts = Millis(60'000);
    parts_.warming.order(order, at(0), [](const report::WarmReport&) {});
  }
  report::Report report() { return parts_.report.report(at(1000)); }

  KeeperPartsForTest parts_;
};

TEST_F(KeeperReportTest, HasTheTrafficAndTheKeys) {
  judge({{"hot", 2000}, {"warm", 700}});
  const report::Report all = report();
  EXPECT_EQ(all.uptime, Millis(1000));
  EXPECT_DOUBLE_EQ(all.reads_rate, 270);
  EXPECT_DOUBLE_EQ(all.hits_rate, 135);
  EXPECT_DOUBLE_EQ(all.misses_rate, 135);
  EXPECT_DOUBLE_EQ(all.hit_ratio, 0.5);
  EXPECT_DOUBLE_EQ(all.hot, 100);
  EXPECT_EQ(all.quiet, "no key is hot");
  EXPECT_EQ(all.hot_keys, 1U);
  ASSERT_EQ(all.keys.size(), 2U);
  EXPECT_EQ(all.keys[0].verdict.count.key, "hot");
  EXPECT_EQ(all.keys[0].spared, 1000);
  EXPECT_FALSE(all.keys[0].cached);
  EXPECT_EQ(all.keys[1].cache_note, "its reads earn none any more");
}

TEST_F(KeeperReportTest, AWarmedKeyIsHotWithOrWithoutAVerdict) {
  judge({{"a", 700}});
  warm("a");
  warm("b");
  const report::Report all = report();
  EXPECT_EQ(all.hot_keys, 2U);
  ASSERT_EQ(all.keys.size(), 2U);
  EXPECT_TRUE(all.keys[0].warmed);
  EXPECT_EQ(all.keys[1].verdict.count.key, "b");
  EXPECT_EQ(all.keys[1].verdict.temperature, detect::Temperature::kHot);
}

TEST_F(KeeperReportTest, OfOneKeyHotOrNot) {
  judge({{"hot", 2000}, {"warm", 700}});
  const report::Report hot = parts_.report.report_of("hot", 0, at(1000));
  ASSERT_EQ(hot.keys.size(), 1U);
  EXPECT_EQ(hot.keys.front().verdict.temperature, detect::Temperature::kHot);
  const report::Report cold = parts_.report.report_of("cold", 0, at(1000));
  ASSERT_EQ(cold.keys.size(), 1U);
  EXPECT_EQ(cold.keys.front().verdict.temperature, detect::Temperature::kCold);
  EXPECT_EQ(cold.keys.front().verdict.since, at(0)) << "since counting began";
  EXPECT_EQ(parts_.report.report_of("hot", 1, at(1000)).keys.front().verdict.temperature,
            detect::Temperature::kCold)
      << "the key of another database";
}

TEST_F(KeeperReportTest, OnlyTheBeginningOfALongNameIsKnown) {
  const std::string name(detect::kKeyBytesMax + 1, 'n');
  judge({{name, 2000}});
  const detect::KeyCount shown = report().keys.front().verdict.count;
  EXPECT_EQ(parts_.report.true_name(shown, name), name);
  EXPECT_FALSE(parts_.report.true_name(shown, shown.key).has_value());
}

TEST_F(KeeperReportTest, TheEventsOfOneKey) {
  parts_.events.add_limit(true, "a", 0, "too fast", at(0));
  parts_.events.add_limit(true, "b", 0, "too fast", at(0));
  parts_.events.add_outage("away", at(0));
  detect::KeyCount shown;
  shown.key = "a";
  ASSERT_EQ(parts_.report.events_of(shown).size(), 1U);
  EXPECT_EQ(parts_.report.events_of(shown).front().key, "a");
}

TEST_F(KeeperReportTest, EventsHaveItsFigures) {
  judge({{"hot", 2000}});
  const EventLog::Reliefs reliefs = parts_.report.reliefs(at(1000));
  EXPECT_EQ(reliefs.of_key(parts_.hot_keys.verdicts().front()).hits, 1000U);
  EXPECT_DOUBLE_EQ(reliefs.of_all().hit_ratio, 0.5);
}

TEST_F(KeeperReportTest, AKeyThatIsNotCopiedSaysWhy) {
  judge({{"hot", 2000}});
  EXPECT_EQ(report().keys.front().cache_note, "cache.maximum-size is used up");
  const detect::Change change{.kind = detect::Change::Kind::kPromote,
                              .verdict = parts_.hot_keys.verdicts().front()};
  parts_.admission.follow({&change, 1}, parts_.hot_keys.verdicts(), at(0));
  EXPECT_EQ(report().keys.front().cache_note, parts_.servers.coherence());
}

}  // namespace
}  // namespace heatsink::copies
