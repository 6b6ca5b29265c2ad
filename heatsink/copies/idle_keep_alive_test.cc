// SPDX-License-Identifier: Apache-2.0
// With a real tracker. The test plays the server.
#include "heatsink/copies/idle_keep_alive.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>

#include "heatsink/base/testing/times.h"

namespace heatsink::copies {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class Deaf final : public redis::TrackerEvents {
 public:
  void on_facts(const redis::ServerFacts&) override {}
  void on_up() override {}
  void on_heartbeat(TimePoint) override {}
  void on_invalidate(std::string_view) override {}
  void on_flush() override {}
  void on_filled(redis::FillReply&) override {}
  void on_barrier(std::uint64_t) override {}
  void on_rights_changed() override {}
  void on_down(const std::string&) override {}
};

class IdleKeepAliveTest : public testing::Test {
 protected:
  IdleKeepAliveTest() {
    tracker_.connected(at(100s));
    hear("+PONG\r\n%0\r\n-NOPERM\r\n+OK\r\n:0\r\n");
    sent();
  }

  void cache_key(std::string_view key, std::uint32_t db = 0, bool with_copy = true) {
    const NameHash name = hash_name(key, 1);
    table_.promote(key, db, in_db(name, db), name, TimePoint{});
    if (with_copy) table_.insert(in_db(name, db), std::make_unique<cache::Copy>());
  }
  void hear(std::string_view bytes) { EXPECT_TRUE(tracker_.received(bytes, at(100s)).ok()); }
  void hear_info(const std::string& fields) {
    const std::string text = "# Memory\r\nused_memory:1\r\n" + fields;
    hear("=" + std::to_string(text.size() + 4) + "\r\ntxt:" + text + "\r\n");
  }
  std::string sent() {
    std::string out(tracker_.output().view());
    tracker_.output().clear();
    return out;
  }
  // The commands of the next round, if the server's INFO has these fields.
  std::string touched(const std::string& fields) {
    keep_alive_.touch_keys(at(100s));
    EXPECT_THAT(sent(), HasSubstr("INFO"));
    hear_info(fields);
    keep_alive_.touch_keys(at(101s));
    return sent();
  }

  cache::Epochs epochs_;
  cache::HotTable table_{cache::HotTableLimits{}, epochs_};
  Deaf deaf_;
  redis::Tracker tracker_{redis::TrackerOptions{}, deaf_};
  IdleKeepAlive keep_alive_{table_, tracker_};
};

TEST_F(IdleKeepAliveTest, TouchesWhatIsServedLocallyWhereTheServerEvictsByUse) {
  cache_key("a");
  cache_key("hot without a copy", 0, false);
  const std::string touch = "*2\r\n$5\r\nTOUCH\r\n$1\r\na\r\n";
  EXPECT_EQ(touched("maxmemory:1000\r\nmaxmemory_policy:allkeys-lru\r\n"), touch);
  hear(":1\r\n");
  keep_alive_.touch_keys(at(102s));
  EXPECT_EQ(sent(), touch);
}

TEST_F(IdleKeepAliveTest, TouchesWhatReplicasAnswer) {
  keep_alive_.set_read_from_replicas({{3, "far"}, {0, "near"}});
  EXPECT_EQ(touched("maxmemory:1000\r\nmaxmemory_policy:allkeys-lru\r\n"),
            "*2\r\n$5\r\nTOUCH\r\n$4\r\nnear\r\n"
            "*2\r\n$6\r\nSELECT\r\n$1\r\n3\r\n*2\r\n$5\r\nTOUCH\r\n$3\r\nfar\r\n");
  keep_alive_.set_read_from_replicas({});
  keep_alive_.touch_keys(at(102s));
  EXPECT_EQ(sent(), "");
}

TEST_F(IdleKeepAliveTest, ByFrequencyToo) {
  cache_key("a");
  EXPECT_THAT(touched("maxmemory:1000\r\nmaxmemory_policy:volatile-lfu\r\n"), HasSubstr("TOUCH"));
}

TEST_F(IdleKeepAliveTest, NotWhereNothingIsEvictedByUse) {
  cache_key("a");
  EXPECT_EQ(touched("maxmemory:1000\r\nmaxmemory_policy:noeviction\r\n"), "");
}

TEST_F(IdleKeepAliveTest, NotWhereThereIsNoLimit) {
  cache_key("a");
  EXPECT_EQ(touched("maxmemory:0\r\nmaxmemory_policy:allkeys-lru\r\n"), "");
}

TEST_F(IdleKeepAliveTest, WhoDoesNotSayIsTakenToEvict) {
  cache_key("a");
  keep_alive_.touch_keys(at(100s));
  sent();
  hear("-NOPERM no\r\n");
  keep_alive_.touch_keys(at(101s));
  EXPECT_THAT(sent(), HasSubstr("TOUCH"));
}

TEST_F(IdleKeepAliveTest, AsksAgainNowAndThenAndHeedsTheAnswer) {
  cache_key("a");
  EXPECT_EQ(touched("maxmemory:1\r\nmaxmemory_policy:noeviction\r\n"), "");
  keep_alive_.touch_keys(at(110s));
  EXPECT_THAT(sent(), HasSubstr("INFO"));
  hear_info("maxmemory:1\r\nmaxmemory_policy:allkeys-lfu\r\n");
  keep_alive_.touch_keys(at(111s));
  EXPECT_THAT(sent(), HasSubstr("TOUCH"));
}

TEST_F(IdleKeepAliveTest, ByDatabaseAndInPieces) {
  for (std::size_t i = 0; i < IdleKeepAlive::kKeysPerCommand + 1; ++i)
    cache_key("k" + std::to_string(i));
  cache_key("other", 3);
  const std::string requests = touched("maxmemory:1\r\nmaxmemory_policy:allkeys-lru\r\n");
  EXPECT_THAT(requests, HasSubstr("*129\r\n$5\r\nTOUCH"));
  EXPECT_THAT(requests, HasSubstr("*2\r\n$5\r\nTOUCH"));
  EXPECT_THAT(requests, HasSubstr("$6\r\nSELECT\r\n$1\r\n3\r\n*2\r\n$5\r\nTOUCH\r\n$5\r\nother"));
}

TEST_F(IdleKeepAliveTest, AKeyThatIsNotHotHasItsTurnLessOften) {
  cache_key("a");
  table_.release(in_db(hash_name("a", 1), 0));
  int touches = touched("maxmemory:1\r\nmaxmemory_policy:allkeys-lru\r\n").empty() ? 0 : 1;
  for (std::uint64_t second = 1; second < IdleKeepAlive::kTurns; ++second) {
    keep_alive_.touch_keys(at(101s));
    touches += sent().empty() ? 0 : 1;
  }
  EXPECT_EQ(touches, 1);
}

TEST_F(IdleKeepAliveTest, SilentWhileTheTrackerIsDown) {
  cache_key("a");
  tracker_.disconnected("x");
  keep_alive_.touch_keys(at(100s));
  EXPECT_EQ(sent(), "");
}

}  // namespace
}  // namespace heatsink::copies
