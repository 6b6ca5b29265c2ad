// SPDX-License-Identifier: Apache-2.0
// A whole session in front of two servers, each with half of the slots: what a session must do for
// any topology (docs/design/topology.md).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>

#include "heatsink/upstream/single_server.h"
#include "tests/simulation/session_fixture.h"

namespace heatsink::simulation {
namespace {

using proxy::Destination;
using proxy::SingleServer;
using proxy::Upstream;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

constexpr std::uint16_t kOtherSessionPort = 7003;

// "a" is in slot 15495, so at the other server; "b" in 3300 and "c" in 7365.
class TwoServers final : public proxy::Upstreams {
 public:
  explicit TwoServers(PlayedHost& host)
      : first_(host.shared, host.shared.upstream_address, host.loop, host.counters, host, 1),
        other_(host.shared, other_address_, host.loop, host.counters, host, 2) {
    EXPECT_TRUE(other_address_.look_up().ok());
  }

  Shared shared(resp::Protocol protocol, const Destination& to) override {
    return at(to).shared(protocol, to);
  }
  void await_shared(resp::Protocol protocol, const Destination& to,
                    const proxy::Requester& session) override {
    at(to).await_shared(protocol, to, session);
  }
  Upstream* shared_beside(const Upstream& connection) override {
    return of(connection).shared_beside(connection);
  }
  bool is_away(const Destination& to) override { return at(to).is_away(to); }
  std::unique_ptr<Upstream> borrow(proxy::ConnectionOwner& session, const Destination& to,
                                   const Need& need) override {
    return at(to).borrow(session, to, need);
  }
  bool carries(const Upstream& connection, const Destination& to) override {
    return is_at_other(to) == (&connection.server() == &other_address_);
  }
  void give_back(std::unique_ptr<Upstream> connection, bool clean) override {
    SingleServer& server = of(*connection);
    server.give_back(std::move(connection), clean);
  }
  void ready(Upstream& connection) override { of(connection).ready(connection); }
  void failed(Upstream& connection, const std::string& reason) override {
    of(connection).failed(connection, reason);
  }
  void check_timeouts(TimePoint now) override {
    first_.check_timeouts(now);
    other_.check_timeouts(now);
  }
  void wake_ready() override {
    first_.wake_ready();
    other_.wake_ready();
  }
  void end_turn() override {
    first_.end_turn();
    other_.end_turn();
  }
  bool owes_nothing() const override { return first_.owes_nothing() && other_.owes_nothing(); }
  void shrink() override {}
  std::uint64_t memory_bytes() const override { return 0; }

 private:
  bool is_at_other(const Destination& to) const { return to.slot().value_or(0) >= 8192; }
  SingleServer& at(const Destination& to) { return is_at_other(to) ? other_ : first_; }
  SingleServer& of(const Upstream& connection) {
    return &connection.server() == &other_address_ ? other_ : first_;
  }

  redis::UpstreamAddress other_address_{
      net::parse_redis_url("redis://127.0.0.1:" + std::to_string(kOtherSessionPort)).value()};
  SingleServer first_, other_;
};

class SessionTopologyTest : public SessionTest {
 protected:
  SessionTopologyTest()
      : SessionTest(with_errors_when_down(session_options()),
                    [](PlayedHost& host) { return std::make_unique<TwoServers>(host); }) {
    send({"GET a", "GET b"});
    EXPECT_THAT(asked(), ElementsAre("1: GET b"));
    EXPECT_THAT(asked_of_other(), ElementsAre("1: GET a"));
    EXPECT_EQ(got(), "+GET a|+GET b|");
  }
  std::vector<std::string> asked_of_other() { return std::exchange(other_.asked, {}); }

  EchoServer other_{network_, kOtherSessionPort};
};

TEST_F(SessionTopologyTest, RequestsAreInFlightOnBothAndRepliesKeepTheirOrder) {
  other_.unanswered = {"GET"};
  send({"GET a", "SET b 1", "GET c"});
  EXPECT_THAT(asked(), ElementsAre("1: SET b 1", "1: GET c"));
  EXPECT_THAT(asked_of_other(), ElementsAre("1: GET a"));
  EXPECT_EQ(got(), "");
  other_.say(1, "+a\r\n");
  pass();
  EXPECT_EQ(got(), "+a|+SET b 1|+GET c|");
}

TEST_F(SessionTopologyTest, APrivateConnectionCarriesOnlyWhatItsServerMayExecute) {
  other_.unanswered = {"EVAL"};
  send({"EVAL x 1 a", "EVAL x 1 b", "SET c 1"});
  EXPECT_THAT(asked_of_other(), ElementsAre("2: EVAL x 1 a"));
  EXPECT_THAT(asked(), IsEmpty());  // effects keep the client's order
  other_.say(2, "+a\r\n");
  pass();
  EXPECT_THAT(asked(), ElementsAre("2: EVAL x 1 b", "2: SET c 1"));
  EXPECT_THAT(asked_of_other(), IsEmpty());
  EXPECT_EQ(got(), "+a|+EVAL x 1 b|+SET c 1|");
}

TEST_F(SessionTopologyTest, AConnectionWithStateIsKept) {
  send({"WATCH a", "GET b"});  // the server will say that it does not have b
  EXPECT_THAT(asked_of_other(), ElementsAre("2: WATCH a", "2: GET b"));
  EXPECT_THAT(asked(), IsEmpty());
}

TEST_F(SessionTopologyTest, EachReadIsAskedAgainWhereItsKeyIs) {
  const std::string big = "$3000\r\n" + std::string(3000, 'v') + "\r\n";
  other_.replies = {{"GET", big}};
  server_.replies = {{"GET", big}};
  send({"GET a", "GET b"});
  EXPECT_THAT(asked_of_other(), ElementsAre("1: GET a", "2: GET a"));
  EXPECT_THAT(asked(), ElementsAre("1: GET b", "2: GET b"));
  EXPECT_EQ(got(), lines_of(big + big));
}

TEST_F(SessionTopologyTest, AnErrorNamesTheServerAndTheOtherOneGoesOn) {
  other_.unanswered = {"GET"};
  send({"GET a"});
  other_.close_port();
  other_.hang_up(1);
  pass();
  EXPECT_THAT(got(), StartsWith("-LOADING heatsink: upstream 127.0.0.1:7003 is not reachable: "));
  send({"EVAL x 1 a", "GET a", "GET b"});
  EXPECT_THAT(got(),
              AllOf(StartsWith("-LOADING heatsink: upstream 127.0.0.1:7003 is not reachable: "),
                    HasSubstr("|-LOADING heatsink: upstream 127.0.0.1:7003 is not reachable: "),
                    testing::EndsWith("|+GET b|")));
  EXPECT_FALSE(client().is_closed);
}

}  // namespace
}  // namespace heatsink::simulation
