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

TEST(Mailbox, RefusesWhatItsSenderCanDoWithoutOnceTooMuchWaits) {
  Mailbox mailbox([] {});
  std::size_t ran = 0;
  for (std::size_t i = 0; i < Mailbox::kWaitingMax; ++i)
    ASSERT_TRUE(mailbox.try_post([&] { ++ran; }));
  EXPECT_TRUE(mailbox.is_full());
  EXPECT_FALSE(mailbox.try_post([&] { ++ran; }));
  mailbox.post([&] { ++ran; });  // bounded by its senders: never refused
  EXPECT_EQ(mailbox.counts().waiting, Mailbox::kWaitingMax + 1);
  EXPECT_EQ(mailbox.counts().refused, 1U);
  mailbox.run_posted();
  EXPECT_EQ(ran, Mailbox::kWaitingMax + 1);
  EXPECT_EQ(mailbox.counts().waiting, 0U);
  EXPECT_TRUE(mailbox.try_post([] {}));
}

}  // namespace
}  // namespace heatsink::net
