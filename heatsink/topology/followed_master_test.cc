// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/followed_master.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace heatsink::topology {
namespace {

using testing::ElementsAre;

constexpr char kFirstAddress[] = "10.0.0.1:6379", kSecondAddress[] = "10.0.0.2:6379";

class FollowedMasterTest : public testing::Test, protected FollowedMaster::Listener {
 protected:
  void leave_master() override { seen_.push_back("leave " + address_.where()); }
  void follow_master() override {
    seen_.push_back("follow " + (address_.is_withheld() ? "nothing" : address_.where()));
  }
  void master_told(const FollowedMaster::Change& change) override {
    std::string what = "told";
    if (change.is_move) what += " move";
    if (change.is_other) what += " other";
    if (change.is_elsewhere) what += " elsewhere";
    if (change.is_new_problem) what += " problem";
    if (change.had_led) what += " again";
    seen_.push_back(what);
  }
  void master_confirmed(TimePoint) override {}

  std::vector<std::string> told(const std::string& leader, const std::string& ip = "",
                                bool renews = false) {
    LeaderVerdict verdict;
    verdict.leader = *net::parse_host_port(leader);
    LeaderResolver::Addresses addresses;
    if (!ip.empty()) addresses = *net::resolve_numeric({ip, 6379});
    watch_.leader_changed(verdict, addresses, renews);
    return std::exchange(seen_, {});
  }
  std::vector<std::string> told_nothing(const std::string& why) {
    LeaderVerdict verdict;
    verdict.problem = why;
    watch_.leader_changed(verdict, {}, false);
    return std::exchange(seen_, {});
  }

  net::EventLoop loop_;
  redis::UpstreamAddress address_{*net::parse_upstream_url("redis+sentinel://10.0.0.9/m"),
                                  redis::UpstreamAddress::Resolved::kElsewhere};
  FollowedMaster master_{loop_, address_, *this};
  LeaderWatch::Listener& watch_ = master_;
  std::vector<std::string> seen_;
};

TEST_F(FollowedMasterTest, CopiesEndBeforeTheAddressIsTheNewOne) {
  address_.withhold("not known yet");
  const std::string unknown = address_.where();
  EXPECT_THAT(told(kFirstAddress),
              ElementsAre("leave " + unknown, "follow 10.0.0.1:6379", "told move other"));
  EXPECT_THAT(told(kSecondAddress),
              ElementsAre("leave 10.0.0.1:6379", "follow 10.0.0.2:6379", "told move other again"));
}

TEST_F(FollowedMasterTest, TheSameServerIsNotLeft) {
  told(kFirstAddress);
  EXPECT_THAT(told(kFirstAddress), ElementsAre("told again"));
}

TEST_F(FollowedMasterTest, WithoutAServerCopiesEndOnce) {
  told(kFirstAddress);
  EXPECT_THAT(told_nothing("no majority"),
              ElementsAre("leave 10.0.0.1:6379", "follow nothing", "told problem again"));
  EXPECT_EQ(master_.problem(), "no majority");
  EXPECT_THAT(told_nothing("no Sentinel answers"), ElementsAre("told problem again"));
  EXPECT_EQ(address_.withheld(), "no Sentinel answers");
  EXPECT_THAT(told(kFirstAddress), ElementsAre("leave 10.0.0.1:6379", "follow 10.0.0.1:6379",
                                               "told move problem again"));
}

TEST_F(FollowedMasterTest, ARenewalConnectsAnewEvenToTheSameAddress) {
  told(kFirstAddress, "10.0.0.1");
  EXPECT_THAT(told(kFirstAddress, "10.0.0.1", true),
              ElementsAre("leave 10.0.0.1:6379", "follow 10.0.0.1:6379", "told move again"));
  EXPECT_THAT(
      told(kFirstAddress, "10.0.0.7", true),
      ElementsAre("leave 10.0.0.1:6379", "follow 10.0.0.1:6379", "told move elsewhere again"));
}

}  // namespace
}  // namespace heatsink::topology
