// SPDX-License-Identifier: Apache-2.0
#include "tests/simulation/restorations.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "tests/consistency/history_for_test.h"
#include "tests/consistency/verdict.h"

namespace heatsink::simulation {
namespace {

using consistency::at;
using consistency::HistoryMaker;

constexpr std::uint64_t kKept = 10, kLost = 11;

ModelDatabases holding(std::uint64_t value, std::optional<TimePoint> ends = {}) {
  ModelDatabases out;
  out[0]["k0"] = ModelEntry{std::to_string(value), ends};
  return out;
}

class RestorationsTest : public testing::Test {
 protected:
  RestorationsTest() {
    recorder_.prefix = "k";
    recorder_.know(0);
    recorder_.last_session = 100;
  }

  // Two writes past the proxy, the second of which a server loses at 100.
  HistoryMaker lost_at_100() {
    return HistoryMaker().on(9, 0).write(kKept, 0, 1).write(kLost, 10, 11).on(1);
  }
  // With what comes back noted.
  consistency::History played(const HistoryMaker& maker) {
    recorder_.history = maker.history;
    restorations_.note(holding(kLost), holding(kKept), clock_, at(100), at(110));
    return restorations_.told_apart();
  }
  bool is_right(const HistoryMaker& maker, Nanos bound = Millis(50)) {
    return consistency::judge(played(maker), bound).violations.empty();
  }

  consistency::Recorder recorder_;
  WallClock clock_;
  Restorations restorations_{recorder_};
};

TEST_F(RestorationsTest, WhatComesBackMayBeRead) {
  EXPECT_TRUE(is_right(lost_at_100().read(kLost, 50, 51).read(kKept, 120, 121)));
  EXPECT_TRUE(is_right(lost_at_100().server_read(kLost, 50, 51).server_read(kKept, 120, 121)));
}

TEST_F(RestorationsTest, WithoutALossItIsAWayBack) {
  HistoryMaker maker = lost_at_100().read(kLost, 50, 51).read(kKept, 120, 121);
  EXPECT_FALSE(consistency::judge(maker.history, Millis(50)).violations.empty());
}

TEST_F(RestorationsTest, WhatIsLostMayBeReadFromCopiesWithinTheBound) {
  EXPECT_TRUE(is_right(lost_at_100().read(kLost, 150, 151)));
  EXPECT_TRUE(is_right(lost_at_100().read(kLost, 150, 151).read(kKept, 160, 161)));
}

TEST_F(RestorationsTest, AndNotBehindWhatCameBack) {
  EXPECT_FALSE(is_right(lost_at_100().read(kKept, 120, 121).read(kLost, 130, 131)));
}

TEST_F(RestorationsTest, NorPastTheBound) {
  EXPECT_FALSE(is_right(lost_at_100().read(kLost, 200, 201).on(9, 0).server_read(kKept, 120, 121)));
}

TEST_F(RestorationsTest, AReadOfEitherSideSaysNothing) {
  const std::size_t count = played(lost_at_100().read(kKept, 90, 95)).size();
  EXPECT_EQ(played(lost_at_100().read(kKept, 90, 105)).size(), count);
  EXPECT_EQ(played(lost_at_100().read(kKept, 90, 115)).size(), count - 1);
}

TEST_F(RestorationsTest, WhatIsTheSameIsNotWritten) {
  restorations_.note(holding(kKept), holding(kKept), clock_, at(100), at(110));
  EXPECT_TRUE(recorder_.history.empty());
  restorations_.note(holding(kKept, at(500)), holding(kKept), clock_, at(100), at(110));
  ASSERT_EQ(recorder_.history.size(), 1U);
  EXPECT_EQ(recorder_.history[0].ttl, Millis(0));
}

TEST_F(RestorationsTest, WhatHasEndedIsMissing) {
  restorations_.note(holding(kLost), holding(kKept, at(99)), clock_, at(100), at(110));
  ASSERT_EQ(recorder_.history.size(), 1U);
  EXPECT_EQ(recorder_.history[0].kind, consistency::Kind::kErase);
}

}  // namespace
}  // namespace heatsink::simulation
