// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/watch_table.h"

#include <gtest/gtest.h>

#include "heatsink/net/event_loop.h"

namespace heatsink::net {
namespace {

struct Nobody final : FdHandler {
  void on_readable() override {}
  void on_writable() override {}
};

TEST(WatchTable, AnEventOfAnEndedRegistrationFindsNobody) {
  WatchTable table;
  Nobody first;
  Nobody second;
  const std::uint64_t old = table.add(7, Interest::kRead, first);
  ASSERT_NE(table.find(old), nullptr);
  EXPECT_EQ(table.find(old)->handler, &first);
  table.remove(7);
  EXPECT_EQ(table.find(old), nullptr);
  const std::uint64_t young = table.add(7, Interest::kRead, second);
  EXPECT_EQ(table.find(old), nullptr) << "same number, other registration";
  EXPECT_EQ(table.find(young)->handler, &second);
}

TEST(WatchTable, ATagOfANumberNeverSeenFindsNobody) {
  WatchTable table;
  EXPECT_EQ(table.find((std::uint64_t{1} << 32) | 99), nullptr);
}

}  // namespace
}  // namespace heatsink::net
