// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/hottest_limits.h"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

policy::ProxyOptions limits_options(double automatic_qps) {
  policy::ProxyOptions options;
  options.workers = 1;
  options.hot_qps = 10;
  options.automatic_qps = automatic_qps;
  options.rules.emplace_back();
  options.rules.back().match = "own:*";
  options.rules.back().limit_rate = "5/s";
  return options;
}

class HottestLimitsTest : public testing::Test {
 protected:
  static KeyHash hash_of(const std::string& name) { return in_db(hash_name(name, 1), 0); }
  static detect::KeyCount key(const std::string& name) {
    detect::KeyCount out;
    out.hash = hash_of(name);
    out.key = name;
    return out;
  }
  void judge(const std::string& name, std::uint64_t per_second) {
    detect::Summary summary;
    summary.window = summary.covered = shared_.options().window;
    summary.covers_window = true;
    summary.requests = summary.reads = per_second * 10;
    summary.keys = {key(name)};
    summary.keys[0].low = summary.keys[0].high = summary.keys[0].reads = per_second * 10;
    hot_keys_.take(0, summary);
    static_cast<void>(hot_keys_.judge(at(0)));
    limits_.update(hot_keys_, at(0));
  }
  void adopt(const policy::ProxyOptions& next) {
    const auto before = shared_.held();
    shared_.publish(std::make_shared<const PolicySnapshot>(next, redis::Credentials{},
                                                           shared_.shown, before.get()));
    limits_.follow_options(before->options, at(1));
  }
  std::string last_reason() const {
    return events_.latest().empty() ? "" : events_.latest().back().reason;
  }

  NodeState shared_{limits_options(100), net::RedisUrl{}, 1};
  EventLog events_{"nothing is hot"};
  HotKeys hot_keys_{shared_};
  HottestLimits limits_{shared_, events_};
};

TEST_F(HottestLimitsTest, AKeyAtTheRateGetsALimit) {
  judge("a", 99);
  EXPECT_FALSE(shared_.limits()->is_automatic(hash_of("a")));
  EXPECT_EQ(limits_.limit_on(key("a")), "");
  judge("a", 100);
  EXPECT_TRUE(shared_.limits()->is_automatic(hash_of("a")));
  EXPECT_NE(limits_.limit_on(key("a")).find("(limits.automatic-qps)"), std::string::npos);
  EXPECT_NE(last_reason().find("limits.automatic-qps 100"), std::string::npos);
}

TEST_F(HottestLimitsTest, AKeyWithALimitOfItsRuleIsSkipped) {
  judge("own:a", 1000);
  EXPECT_FALSE(shared_.limits()->is_automatic(hash_of("own:a")));
  EXPECT_NE(limits_.limit_on(key("own:a")), "");
  EXPECT_TRUE(events_.latest().empty());
}

TEST_F(HottestLimitsTest, WithoutTheOptionAllOfThemEnd) {
  judge("a", 100);
  adopt(limits_options(0));
  EXPECT_EQ(last_reason(), "limits.automatic-qps is off (it was 100)");
  EXPECT_EQ(limits_.limit_on(key("a")), "");
  judge("a", 1000);
  EXPECT_EQ(events_.latest().size(), 2U) << "it does nothing now";
}

}  // namespace
}  // namespace heatsink::copies
