// SPDX-License-Identifier: Apache-2.0
// For tests: what a part of a tracker needs, without the tracker.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "heatsink/redis/request_for_test.h"
#include "heatsink/redis/tracker_log_for_test.h"
#include "heatsink/redis/tracker_requests.h"

namespace heatsink::redis {

inline resp::Value value_of(std::string_view wire) {
  resp::Value value;
  std::size_t consumed = 0;
  EXPECT_EQ(resp::parse_value(wire, value, consumed), resp::ValueStatus::kValue) << wire;
  return value;
}

struct TrackerPartForTest {
  // Only counts commands.
  struct Protocol final : ConnectionProtocol {
    void connected(TimePoint) override {}
    Status received(std::string_view, TimePoint) override { return Unit{}; }
    Status tick(TimePoint) override { return Unit{}; }
    void disconnected(const std::string&) override {}
    bool up() const override { return true; }
    ByteBuffer& output() override { return nothing; }
    ByteBuffer nothing;
  };

  // The bytes to send since the last call.
  std::string sent() {
    std::string out(requests.output().view());
    requests.output().clear();
    return out;
  }

  TrackerOptions options;
  TrackerLog log;
  Protocol protocol;
  TrackerRequests requests{protocol};
};

}  // namespace heatsink::redis
