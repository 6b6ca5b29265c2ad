// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/cluster_refusals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string_view>

#include "heatsink/upstream/single_server.h"
#include "heatsink/upstream/testing/idle_host.h"
#include "heatsink/upstream/upstream_parts_for_test.h"

namespace heatsink::proxy {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::string_view kMget = "*3\r\n$4\r\nMGET\r\n$1\r\na\r\n$1\r\nb\r\n";
constexpr std::string_view kGet = "*2\r\n$3\r\nGET\r\n$1\r\na\r\n";
constexpr std::string_view kTryAgain =
    "-TRYAGAIN Multiple keys request during rehashing of slot\r\n";
constexpr std::string_view kMovedToOther = "-MOVED 1 127.0.0.1:2\r\n";

// Its connections never become ready, because no address of their server is known.
class WaitingHost final : public IdleHost {
 public:
  WaitingHost(net::EventLoop& loop, ServersState& shared) : loop_(loop), shared_(shared) {}
  std::unique_ptr<Upstream> open(redis::UpstreamAddress& server, resp::Protocol protocol,
                                 Upstream::Login login, ConnectionOwner* owner) override {
    return std::make_unique<Upstream>(*this, loop_, shared_, server, protocol, login, owner);
  }

 private:
  net::EventLoop& loop_;
  ServersState& shared_;
};

class ClusterRefusalsTest : public testing::Test, private ClusterRefusals::Owner {
 protected:
  bool reroute(Pending& pending, std::string_view request, std::string_view error) {
    return refusals_.reroute(from_, pending, request, error);
  }
  Pending refused_since(Nanos ago, std::uint8_t redirects) {
    Pending pending = client_.request();
    pending.rerouted = std::make_unique<Rerouted>();
    pending.rerouted->since = loop_.now() - ago;
    pending.rerouted->redirects = redirects;
    return pending;
  }

  net::EventLoop loop_;
  ServersState shared_{policy::ProxyOptions(),
                       net::parse_upstream_url("redis+cluster://127.0.0.1:1").value(), 1};
  copies::Counters counters_;
  WaitingHost host_{loop_, shared_};
  SingleServer server_{shared_, shared_.upstream_address, loop_, counters_, host_, 1};
  Upstream from_{host_,
                 loop_,
                 shared_,
                 shared_.upstream_address,
                 resp::Protocol::kResp2,
                 Upstream::Login::kOwn,
                 nullptr};
  PlayedEvents events_;
  PlayedReceiver client_{events_, 1};
  ClusterRefusals refusals_{static_cast<ClusterRefusals::Owner&>(*this), shared_, loop_, counters_,
                            host_};

 private:
  SingleServer& server_at(redis::UpstreamAddress& /*address*/) override { return server_; }
};

TEST_F(ClusterRefusalsTest, OtherErrorsAreTheClients) {
  Pending pending = client_.request();
  EXPECT_FALSE(reroute(pending, kGet, "-WRONGTYPE Operation against a key\r\n"));
  EXPECT_FALSE(reroute(pending, kGet, "-CLUSTERDOWN Hash slot not served\r\n"));
  EXPECT_EQ(pending.session, &client_);
  EXPECT_TRUE(refusals_.is_unused());
}

TEST_F(ClusterRefusalsTest, ARequestThatIsAskedAgainTooSoonWaits) {
  Pending pending = client_.request();
  pending.read_only = false;
  EXPECT_TRUE(reroute(pending, kMget, kTryAgain));
  EXPECT_THAT(events_, IsEmpty());
  EXPECT_FALSE(refusals_.owes_nothing());
  EXPECT_GE(refusals_.memory_bytes(), kMget.size());
}

TEST_F(ClusterRefusalsTest, AfterTheTimeLimitTheClientGetsAnError) {
  Pending pending = refused_since(shared_.options().response_timeout + Millis(1), 0);
  pending.read_only = false;
  EXPECT_TRUE(reroute(pending, kMget, kTryAgain));
  EXPECT_THAT(events_, ElementsAre(StartsWith("client 1 gets 1 -CLUSTERDOWN heatsink: the slot is"),
                                   StartsWith("client 1 done 1 error -CLUSTERDOWN")));
  EXPECT_TRUE(refusals_.is_unused());
}

TEST_F(ClusterRefusalsTest, NodesThatNameEachOtherEndInAnError) {
  Pending pending = refused_since(Nanos(0), 40);
  EXPECT_TRUE(reroute(pending, kGet, kMovedToOther));
  EXPECT_THAT(events_, ElementsAre(HasSubstr("do not agree which of them owns the key "
                                             "(the last one said: MOVED 1 127.0.0.1:2)"),
                                   StartsWith("client 1 done 1 error")));
}

TEST_F(ClusterRefusalsTest, ARequestForAReplacedNodeIsLostUnexecuted) {
  Pending first = client_.request(), second = client_.request();
  first.read_only = second.read_only = false;
  EXPECT_TRUE(reroute(first, kMget, kTryAgain));
  EXPECT_TRUE(reroute(second, kMget, kTryAgain));
  refusals_.refuse_those_for(
      *refusals_.node_named_by(*topology::parse_redirect("MOVED 1 h:3"), from_));
  EXPECT_THAT(events_, IsEmpty()) << "they are for another node";
  refusals_.refuse_those_for(from_.server());
  EXPECT_THAT(events_,
              ElementsAre(StartsWith("client 1 lost 1: "), StartsWith("client 1 lost 2: ")));
  EXPECT_TRUE(refusals_.owes_nothing());
}

TEST_F(ClusterRefusalsTest, AReadOfKeysThatMoveGoesOnInParts) {
  Pending pending = client_.request();
  EXPECT_TRUE(reroute(pending, kMget, kTryAgain));
  EXPECT_FALSE(refusals_.owes_nothing()) << "its two parts wait";
  refusals_.refuse_those_for(from_.server());
  EXPECT_THAT(events_, ElementsAre(StartsWith("client 1 lost 1: "))) << "once, as a whole";
  EXPECT_TRUE(refusals_.is_unused());
  refusals_.end_turn();
}

// The parts could overtake the earlier request, which may write the same keys.
TEST_F(ClusterRefusalsTest, AReadBehindARefusedRequestOfItsClientIsNotSplit) {
  Pending write = client_.request(), read = client_.request();
  write.read_only = false;
  EXPECT_TRUE(reroute(write, kMget, kTryAgain));
  const std::uint64_t bytes_of_one = refusals_.memory_bytes();
  EXPECT_TRUE(reroute(read, kMget, kTryAgain));
  EXPECT_EQ(refusals_.memory_bytes(), 2 * bytes_of_one) << "it waits as a whole";
  refusals_.refuse_those_for(from_.server());
  EXPECT_THAT(events_,
              ElementsAre(StartsWith("client 1 lost 1: "), StartsWith("client 1 lost 2: ")));
}

}  // namespace
}  // namespace heatsink::proxy
