// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/mailbox.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <unistd.h>
#include <string>

namespace heatsink::net {
namespace {

// How many times the mailbox asked the kernel since the last call.
std::uint64_t wakes(const Mailbox& mailbox) {
  std::uint64_t count = 0;
  return ::read(mailbox.wake_fd(), &count, sizeof count) == sizeof count ? count : 0;
}

TEST(Mailbox, RunsInOrderAndPostedByWorkNextTime) {
  Mailbox mailbox;
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
  Mailbox mailbox;
  mailbox.post([] {});
  EXPECT_EQ(wakes(mailbox), 0u);
  mailbox.run_posted();
  ASSERT_TRUE(mailbox.may_sleep());
  mailbox.post([] {});
  mailbox.post([] {});
  EXPECT_EQ(wakes(mailbox), 1u);
}

TEST(Mailbox, AnOwnerWokenByOtherThingsIsAwakeToo) {
  Mailbox mailbox;
  ASSERT_TRUE(mailbox.may_sleep());
  mailbox.run_posted();
  mailbox.post([] {});
  EXPECT_EQ(wakes(mailbox), 0u);
}

}  // namespace
}  // namespace heatsink::net
