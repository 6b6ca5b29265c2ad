// SPDX-License-Identifier: Apache-2.0
// Copies of rules that keep them without proof: the filler leaves them in the table, and no level
// serves them.
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>

#include "heatsink/base/testing/times.h"
#include "heatsink/copies/filler.h"
#include "heatsink/copies/keeper_parts_for_test.h"
#include "heatsink/resp/writer.h"

namespace heatsink::copies {
namespace {

// "k" is hot by a rule with limit.over: stale. The tracker is up since 0 ms.
class FillerUnproven : public testing::Test {
 protected:
  FillerUnproven() {
    filler_.use(tracker_);
    shared_.table.promote("k", 0, key_, hash_name("k", kSeed), TimePoint{},
                          {.keeps_unproven = true});
    tracker_.connected(at(0));
    hear("+PONG\r\n%1\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n-NOPERM\r\n+OK\r\n:0\r\n");
  }

  void hear(std::string_view bytes) { EXPECT_TRUE(tracker_.received(bytes, at(1)).ok()); }
  void fill(std::string_view value, TimePoint sent_at) {
    filler_.request({0, key_, "k", 0, at(0), {key_.value}}, sent_at);
    ByteBuffer wire;
    resp::append_bulk(wire, value);
    hear(wire.view());
    hear(":-1\r\n");
  }
  const cache::Entry& entry() { return *shared_.table.entry(key_); }
  bool served(TimePoint now) {
    return cache::judge(entry(), cache::Read{}, shared_.proof, shared_.fences, now, TimePoint{})
               .ruling == cache::Ruling::kServe;
  }
  bool unproven(TimePoint now) {
    return cache::unproven_copy(entry(), cache::Read{}, now, Millis(500)) != nullptr;
  }

  static constexpr std::uint64_t kSeed = 1;
  static constexpr std::string_view kPushOfK = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n";
  const KeyHash key_ = in_db(hash_name("k", kSeed), 0);
  NodeState shared_{policy::ProxyOptions{}, net::RedisUrl{}, kSeed};
  Counters counters_;
  SilentOwner owner_;
  Filler filler_{shared_, counters_, owner_};
  redis::Tracker tracker_{redis::TrackerOptions{}, filler_};
};

TEST_F(FillerUnproven, AnInvalidatedCopyStaysAndNoLevelServesIt) {
  fill("old", at(10));
  EXPECT_TRUE(served(at(20)));
  hear(kPushOfK);
  EXPECT_FALSE(served(at(20)));
  EXPECT_TRUE(unproven(at(510)));
  EXPECT_FALSE(unproven(at(511)));
}

TEST_F(FillerUnproven, TheNextFillIsLaterThanTheFence) {
  fill("old", at(10));
  hear(kPushOfK);
  fill("new", at(30));
  EXPECT_TRUE(served(at(40)));
  EXPECT_TRUE(unproven(at(40)));
}

TEST_F(FillerUnproven, ItOutlivesTheTrackerAndNoFlush) {
  fill("v", at(10));
  tracker_.disconnected("gone");
  EXPECT_FALSE(served(at(40)));
  EXPECT_TRUE(unproven(at(40)));
  filler_.on_flush();
  EXPECT_FALSE(unproven(at(40)));
}

}  // namespace
}  // namespace heatsink::copies
