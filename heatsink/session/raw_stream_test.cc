// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/raw_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/relief/testing/relief_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class RawStreamTest : public ReliefTest, public RawStream::Client {
 protected:
  RawStreamTest() { start(); }
  std::vector<std::string> take() { return std::exchange(events_, {}); }

  ClientState state;
  RawStream stream{state, *this};
  bool is_busy = false, has_connection = true;

 private:
  bool is_drained() const override { return !is_busy; }
  Step stall_for(Awaited /*why*/) override {
    events_.emplace_back("drains");
    return Step::kStall;
  }
  std::optional<Step> keep_connection(Request& /*request*/) override {
    if (!has_connection) return Step::kDone;
    return std::nullopt;
  }
  Step send_on_own(Request& request, PartRequest of) override {
    EXPECT_EQ(of.part, SessionPart::kRawStream);
    events_.push_back("sends " + std::string(request.args()[0]));
    return Step::kDone;
  }
  void end_near_cache() override { events_.emplace_back("ends near cache"); }
  bool relay(std::string_view request) override {
    events_.push_back("relays " + std::to_string(request.size()));
    return has_connection;
  }
  void send_rest(std::string_view bytes) override {
    events_.push_back("adds " + std::to_string(bytes.size()));
  }
  Step reply_error(std::string_view text) override {
    events_.emplace_back(text);
    return Step::kDone;
  }
  void close_when_flushed() override { events_.emplace_back("closes"); }

  std::vector<std::string> events_;
};

TEST_F(RawStreamTest, MonitorStreamsAfterItsReply) {
  EXPECT_EQ(stream.begin(request({"MONITOR"})), Step::kDone);
  EXPECT_THAT(take(), ElementsAre("ends near cache", "sends MONITOR", "drains"));
  EXPECT_FALSE(stream.is_on());
  stream.began(false);
  EXPECT_FALSE(stream.is_on());
  stream.began(true);
  EXPECT_TRUE(stream.is_on());
  EXPECT_THAT(take(), ElementsAre("relays 0"));
  EXPECT_FALSE(state.replicates_);
}

TEST_F(RawStreamTest, AReplicaStreamsAtOnce) {
  Request& sync = request({"PSYNC", "?", "-1"});
  EXPECT_EQ(stream.begin(sync), Step::kDone);
  EXPECT_THAT(take(), ElementsAre("ends near cache", "relays " + std::to_string(sync.raw.size())));
  EXPECT_TRUE(stream.is_on() && state.replicates_);
}

TEST_F(RawStreamTest, ItWaitsForEarlierRepliesAndForAConnection) {
  is_busy = true;
  EXPECT_EQ(stream.begin(request({"SYNC"})), Step::kStall);
  EXPECT_THAT(take(), ElementsAre("drains"));
  is_busy = has_connection = false;
  EXPECT_EQ(stream.begin(request({"SYNC"})), Step::kDone);
  stream.began(true);  // the connection is lost by then
  EXPECT_FALSE(stream.is_on() || state.replicates_);
}

TEST_F(RawStreamTest, AMonitorMayRead) {
  stream.go_on();
  Request& ping = request({"PING"});
  stream.take(ping);
  stream.take(request({"MONITOR"}));
  EXPECT_THAT(take(), ElementsAre("adds " + std::to_string(ping.raw.size()), HasSubstr("adds")));
  for (const char* const name : {"SET", "SUBSCRIBE", "NONSENSE"}) stream.take(request({name, "a"}));
  EXPECT_THAT(take(), ElementsAre(HasSubstr("only reads"), HasSubstr("only reads"),
                                  HasSubstr("only reads")));
}

TEST_F(RawStreamTest, AReplicaThatSendsMoreThanItsOffsetIsClosed) {
  stream.begin(request({"SYNC"}));
  take();
  stream.take(request({"REPLCONF", "ACK", "1"}));
  EXPECT_THAT(take(), ElementsAre(HasSubstr("adds")));
  stream.take(request({"SET", "a", "1"}));
  EXPECT_THAT(take(), ElementsAre("closes"));
}

}  // namespace
}  // namespace heatsink::proxy
