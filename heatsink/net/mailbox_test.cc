// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/mailbox.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::net {
namespace {

TEST(Mailbox, RunsInOrderAndPostedByWorkNextTime) {
  Mailbox mailbox([] {});
  std::string ran;
  mailbox.post([&] {
    ran += 'a';
    mailbox.post([&] { ran += 'c'; });
  });
  mailbox.post([&] { ran += 'b'; });
  mailbox.run_posted();
  EXPECT_EQ(ran, "ab");
  EXPECT_FALSE(mailbox.may_sleep());
  mailbox.run_posted();
  EXPECT_EQ(ran, "abc");
}

TEST(Mailbox, WakesASleeperOnceAndAnAwakeOwnerNever) {
  int wakes = 0;
  Mailbox mailbox([&] { ++wakes; });
  mailbox.post([] {});
  EXPECT_EQ(wakes, 0);
  mailbox.run_posted();
  ASSERT_TRUE(mailbox.may_sleep());
  mailbox.post([] {});
  mailbox.post([] {});
  EXPECT_EQ(wakes, 1);
}

TEST(Mailbox, AnOwnerWokenByOtherThingsIsAwakeToo) {
  int wakes = 0;
  Mailbox mailbox([&] { ++wakes; });
  ASSERT_TRUE(mailbox.may_sleep());
  mailbox.run_posted();
  mailbox.post([] {});
  EXPECT_EQ(wakes, 0);
}

}  // namespace
}  // namespace heatsink::net
