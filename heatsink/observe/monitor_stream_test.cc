// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/monitor_stream.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "heatsink/base/testing/times.h"

namespace heatsink::observe {
namespace {

using testing::HasSubstr;

std::string line(std::string_view time, std::string_view arguments) {
  return "+" + std::string(time) + " [0 10.0.0.1:5] " + std::string(arguments) + "\r\n";
}
const std::string kBeginMark = "+OK\r\n" +
                               line("100.000000", R"("ECHO" "heatsink:monitor:begin")") +
                               "$22\r\nheatsink:monitor:begin\r\n";
const std::string kEndMark =
    line("100.250000", R"("ECHO" "heatsink:monitor:end")") + "$20\r\nheatsink:monitor:end\r\n";

class MonitorStreamTest : public testing::Test {
 protected:
  MonitorStreamTest() {
    stream_.open();
    stream_.connected(at(0));
    hear("+OK\r\n", 1);
    EXPECT_TRUE(stream_.is_ready());
    stream_.output().clear();
    stream_.begin(at(2));
  }
  void hear(std::string_view bytes, int ms) {
    const Status status = stream_.received(bytes, at(ms));
    EXPECT_TRUE(status.ok()) << status.error().message;
  }

  MonitorStream stream_{{}, 1};
};

TEST_F(MonitorStreamTest, CountsBetweenTheMarksByTheServersClock) {
  EXPECT_EQ(stream_.output().view(),
            "*1\r\n$7\r\nMONITOR\r\n*2\r\n$4\r\nECHO\r\n$22\r\nheatsink:monitor:begin\r\n");
  hear(kBeginMark + line("100.1", R"("get" "k")"), 900);
  EXPECT_TRUE(stream_.has_begun());
  stream_.end();
  hear(line("100.2", R"("get" "k")") + kEndMark + line("100.3", R"("get" "k")"), 5000);
  EXPECT_TRUE(stream_.has_ended());
  EXPECT_FALSE(stream_.wanted());
  const auto heard = stream_.take_window(at(5000));
  ASSERT_TRUE(heard);
  EXPECT_DOUBLE_EQ(heard->seconds, 0.25);
  EXPECT_EQ(heard->lines, 2u);
  ASSERT_EQ(heard->summary.keys.size(), 1u);
  EXPECT_EQ(heard->summary.keys[0].low, 2u);
  EXPECT_TRUE(stream_.is_closed());
}

TEST(MonitorStream, LinesBeforeMonitorAreAnError) {
  MonitorStream stream({}, 1);
  stream.open();
  stream.connected(at(0));
  const Status status = stream.received("+OK\r\n" + line("100.1", R"("get" "k")"), at(1));
  EXPECT_THAT(status.error().message, HasSubstr("before MONITOR"));
}

TEST_F(MonitorStreamTest, LinesMayComeInAnyPieces) {
  const std::string all = kBeginMark + line("100.1", R"("get" "a\"b")") + kEndMark;
  stream_.received(all.substr(0, kBeginMark.size()), at(3)).ok();
  stream_.end();
  for (const char byte : all.substr(kBeginMark.size())) {
    if (stream_.has_ended()) break;
    hear(std::string(1, byte), 4);
  }
  const auto heard = stream_.take_window(at(5));
  ASSERT_EQ(heard->summary.keys.size(), 1u);
  EXPECT_EQ(heard->summary.keys[0].key, "a\"b");
}

TEST_F(MonitorStreamTest, OfAVeryLongLineTheKeyIsStillKnown) {
  hear(kBeginMark, 3);
  std::string set = line("100.1", "\"set\" \"k\" \"" + std::string(300'000, 'v') + "\"");
  while (!set.empty()) {
    hear(set.substr(0, 10'000), 4);
    set.erase(0, 10'000);
  }
  hear(line("100.2", R"("get" "k")"), 5);
  const auto heard = stream_.take_window(at(6));
  ASSERT_EQ(heard->summary.keys.size(), 1u);
  EXPECT_EQ(heard->summary.keys[0].reads, 1u);
  EXPECT_EQ(heard->summary.keys[0].writes, 1u);
  EXPECT_EQ(heard->unreadable, 0u);
}

TEST_F(MonitorStreamTest, ALostStreamKeepsWhatWasHeard) {
  hear(kBeginMark + line("100.2", R"("get" "k")") + "+100.3 [0 10.0", 3);
  stream_.lost({ErrorCode::kUnavailable, "the connection was lost"}, at(4));
  EXPECT_TRUE(stream_.failure());
  const auto heard = stream_.take_window(at(5));
  ASSERT_TRUE(heard);
  EXPECT_DOUBLE_EQ(heard->seconds, 0.2);
  EXPECT_EQ(heard->lines, 1u);
}

TEST_F(MonitorStreamTest, WithoutEchoOurOwnClockServes) {
  hear("+OK\r\n-ERR unknown command 'ECHO'\r\n", 100);
  EXPECT_TRUE(stream_.has_begun());
  hear(line("100.1", R"("get" "k")"), 200);
  stream_.end();
  hear("-ERR unknown command 'ECHO'\r\n", 350);
  EXPECT_TRUE(stream_.has_ended());
  EXPECT_DOUBLE_EQ(stream_.take_window(at(350))->seconds, 0.25);
}

TEST_F(MonitorStreamTest, ARefusalSaysWhatToDo) {
  const Status status = stream_.received("-NOPERM this user has no permissions\r\n", at(3));
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::kPermission);
  EXPECT_THAT(status.error().message, HasSubstr("ACL SETUSER"));
}

TEST_F(MonitorStreamTest, GarbageEndsIt) { EXPECT_FALSE(stream_.received("+OK\r\n*3\r\n", at(3))); }

}  // namespace
}  // namespace heatsink::observe
