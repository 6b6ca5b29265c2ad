// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/listeners.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heatsink::client {
namespace {

TEST(Listeners, EachGetsAllEventsInOrder) {
  Listeners<int> listeners;
  const std::vector events{1, 2};
  std::string told;
  listeners.tell(events);
  listeners.add([&](int event) { told += "a" + std::to_string(event); });
  listeners.add([&](int event) { told += "b" + std::to_string(event); });
  listeners.tell(events);
  EXPECT_EQ(told, "a1b1a2b2");
}

TEST(Listeners, OneMayAddAnother) {
  Listeners<int> listeners;
  const std::vector events{1};
  int told = 0;
  listeners.add([&](int) { listeners.add([&](int) { ++told; }); });
  listeners.tell(events);
  EXPECT_EQ(told, 0);
  listeners.tell(events);
  EXPECT_EQ(told, 1);
}

}  // namespace
}  // namespace heatsink::client
