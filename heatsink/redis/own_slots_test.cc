// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/own_slots.h"

#include <gtest/gtest.h>

namespace heatsink::redis {
namespace {

TEST(OwnSlots, AreThoseOfTheLineOfMyself) {
  EXPECT_EQ(own_slots("aa 127.0.0.1:1@2 master - 0 17 1 connected 0-9\n"
                      "bb 127.0.0.1:3@4,host myself,master - 0 0 2 connected 10-99 200\n"),
            "bb 2 10-99 200");
}

TEST(OwnSlots, TellWhatIsOnTheMove) {
  EXPECT_EQ(own_slots("bb :3@4 myself,master - 0 0 2 connected 10 [10->-aa]\n"),
            "bb 2 10 [10->-aa]");
}

TEST(OwnSlots, AreTheSameWhateverTheTimesAre) {
  EXPECT_EQ(own_slots("bb :3@4 myself,master - 1 2 7 connected 10\n"),
            own_slots("bb :3@4 myself,master - 3 4 7 connected 10\n"));
}

TEST(OwnSlots, MayBeNone) {
  EXPECT_EQ(own_slots("bb :3@4 myself,master - 0 0 0 connected\n"), "bb 0 ");
}

TEST(OwnSlots, OfTextThatIsNoMap) {
  EXPECT_EQ(own_slots(""), "");
  EXPECT_EQ(own_slots("\n\n"), "");
  EXPECT_EQ(own_slots("aa :1@2 master,notmyself - 0 17 1 connected 0-9"), "");
  EXPECT_EQ(own_slots("bb :3@4 myself"), "bb  ");
}

}  // namespace
}  // namespace heatsink::redis
