// SPDX-License-Identifier: Apache-2.0
// For tests: a tracker whose input the test writes, and the server's replies for it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/redis/request_for_test.h"
#include "heatsink/redis/tracker.h"
#include "heatsink/redis/tracker_log_for_test.h"
#include "heatsink/resp/writer.h"

namespace heatsink::redis {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Lines = std::vector<std::string>;

inline std::string bulk(std::string_view text) {
  return "$" + std::to_string(text.size()) + "\r\n" + std::string(text) + "\r\n";
}

inline std::string integer(std::int64_t number) { return ":" + std::to_string(number) + "\r\n"; }

inline std::string push(std::initializer_list<std::string_view> names) {
  std::string out = ">2\r\n" + bulk("invalidate") + "*" + std::to_string(names.size()) + "\r\n";
  for (std::string_view name : names) out += bulk(name);
  return out;
}
inline const std::string kFlushPush = ">2\r\n$10\r\ninvalidate\r\n_\r\n";

inline const std::string kPong = "+PONG\r\n";
inline const std::string kHello =
    "%2\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n$6\r\n7.0.15\r\n";
inline const std::string kCommands =
    "*1\r\n*6\r\n$3\r\nget\r\n:2\r\n*1\r\n+readonly\r\n:1\r\n:1\r\n:1\r\n";
inline const std::string kOk = "+OK\r\n";
inline const std::string kBeat = ":0\r\n";         // the reply to EXISTS
inline const std::string kHeart = kHello + kBeat;  // the replies to a heartbeat

// Limits: 10 bytes per value, heartbeats every 100 ms, staleness 1 s, replies within 10 s.
// Connected at 0 ms.
class TrackerTest : public testing::Test {
 protected:
  TrackerTest() { tracker_.connected(at(0)); }

  static TrackerOptions options() {
    TrackerOptions options;
    options.heartbeat_key = "hb";
    options.value_bytes_max = 10;
    return options;
  }

  static std::string heartbeat() { return request({"HELLO", "3"}) + request({"EXISTS", "hb"}); }

  // The bytes that the tracker has produced since the last call.
  std::string sent() {
    std::string out(tracker_.output().view());
    tracker_.output().clear();
    return out;
  }

  Lines hear(std::string_view bytes, TimePoint now = at(1)) {
    const Status status = tracker_.received(bytes, now);
    EXPECT_TRUE(status.ok()) << status.error().message;
    return log_.take();
  }

  // The tracker's error for bytes that must end the connection.
  std::string error_of(std::string_view bytes, TimePoint now = at(1)) {
    const Status status = tracker_.received(bytes, now);
    return status.ok() ? "no error" : status.error().message;
  }

  void bring_up() {
    hear(kPong + kHello + kCommands + kOk + kBeat);
    ASSERT_TRUE(tracker_.up());
    sent();
  }

  // Sends a fill of "k" at 5 ms, and answers it with `reply`.
  Lines filled(const std::string& reply) {
    tracker_.fill(7, {"k", 0}, at(5));
    return hear(reply, at(6));
  }

  TrackerLog log_;
  Tracker tracker_{options(), log_};
};

class TrackerUp : public TrackerTest {
 protected:
  TrackerUp() { bring_up(); }
};

}  // namespace heatsink::redis
