// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/plain_runs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/session/testing/client_output_fixture.h"

namespace heatsink::proxy {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::string wires(std::initializer_list<std::initializer_list<std::string_view>> requests) {
  ByteBuffer out;
  for (const auto& each : requests) resp::append_request(out, each);
  return std::string(out.view());
}

// "hot" has a copy with the value "v".
class PlainRunsTest : public ClientOutputFixture {
 protected:
  PlainRunsTest() {
    options.stream_threshold = Bytes{100};
    start_output();
    heat("hot");
    fill("hot", "v");
    shared_connection_ = connection(nullptr);
    ready = shared_connection_.get();
    reliefs_.emplace(*parts, client_.context);
  }
  // The number of bytes done.
  std::size_t take(std::string_view bytes) {
    return PlainRuns(*session_parts, *reliefs_, *output, Asked{*this}).take(bytes, now);
  }
  std::vector<std::string> sent() { return std::exchange(sent_, {}); }

  Upstream* ready = nullptr;
  bool takes_gets = true, takes_sets = true;
  std::size_t room = std::numeric_limits<std::size_t>::max();  // for requests to the server

 private:
  struct Asked {
    bool may_go_on() const { return test.room > 0; }
    bool takes_gets() const { return test.takes_gets; }
    bool takes_sets() const { return test.takes_sets; }
    Upstream* ready_connection(Request& /*request*/) const { return test.ready; }
    void send(Upstream& connection, Request& request) const {
      EXPECT_EQ(&connection, test.ready);
      --test.room;
      test.output->expect();
      std::string words;
      for (const std::string_view each : request.args()) words += std::string(each) + " ";
      test.sent_.push_back(words);
    }

    PlainRunsTest& test;
  };

  PlayedClient client_{1};
  std::unique_ptr<Upstream> shared_connection_;
  std::optional<ReliefChain> reliefs_;
  std::vector<std::string> sent_;
};

TEST_F(PlainRunsTest, CopiesAnswerGetsAndTheServerGetsTheOthers) {
  const std::string bytes =
      wires({{"GET", "hot"}, {"GET", "cold"}, {"GET", "hot"}, {"get", "cool"}, {"SET", "a", "1"}});
  EXPECT_EQ(take(bytes), bytes.size() - wires({{"SET", "a", "1"}}).size());
  EXPECT_THAT(sent(), ElementsAre("get cold ", "get cool "));
  output->put_whole(output->first_owed(), "$-1\r\n");
  EXPECT_EQ(flushed(), "$1\r\nv\r\n$-1\r\n$1\r\nv\r\n");
}

TEST_F(PlainRunsTest, SetsGoToTheServer) {
  const std::string bytes =
      wires({{"SET", "a", "1"}, {"set", "hot", "2", "EX", "10"}, {"GET", "hot"}});
  EXPECT_EQ(take(bytes), bytes.size() - wires({{"GET", "hot"}}).size());
  EXPECT_THAT(sent(), ElementsAre("SET a 1 ", "set hot 2 EX 10 "));
}

TEST_F(PlainRunsTest, WithoutAConnectionOnlyCopiesAnswer) {
  ready = nullptr;
  EXPECT_EQ(take(wires({{"GET", "hot"}, {"GET", "cold"}})), wires({{"GET", "hot"}}).size());
  EXPECT_EQ(take(wires({{"GET", "cold"}})), 0U);
  EXPECT_EQ(take(wires({{"SET", "a", "1"}})), 0U);
  EXPECT_EQ(flushed(), "$1\r\nv\r\n");
}

TEST_F(PlainRunsTest, ARunEndsWhereTheSessionMayTakeNoMore) {
  room = 2;
  EXPECT_EQ(take(wires({{"GET", "a"}, {"GET", "b"}, {"GET", "c"}})),
            wires({{"GET", "a"}, {"GET", "b"}}).size());
  room = 1;
  EXPECT_EQ(take(wires({{"SET", "a", "1"}, {"SET", "b", "1"}})), wires({{"SET", "a", "1"}}).size());
}

TEST_F(PlainRunsTest, TheClientsStateMayForbidThem) {
  takes_gets = takes_sets = false;
  EXPECT_EQ(take(wires({{"GET", "hot"}})), 0U);
  EXPECT_EQ(take(wires({{"SET", "a", "1"}})), 0U);
  EXPECT_THAT(sent(), IsEmpty());
}

TEST_F(PlainRunsTest, OtherRequestsAreLeft) {
  const std::string big(100, 'x');  // with the rest of the request more than the threshold
  EXPECT_EQ(take(wires({{"SET", "a", "1", "NX"}})), 0U);
  EXPECT_EQ(take(wires({{"MGET", "a"}})), 0U);
  EXPECT_EQ(take(wires({{"SET", "a", big}})), 0U);
  EXPECT_EQ(take(wires({{"GET", big}})), 0U);
  EXPECT_EQ(take("*2\r\n$3\r\nGET\r\n$1\r\n"), 0U);  // its end has not come
  EXPECT_THAT(sent(), IsEmpty());
}

}  // namespace
}  // namespace heatsink::proxy
