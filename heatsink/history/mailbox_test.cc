// SPDX-License-Identifier: Apache-2.0
#include "heatsink/history/mailbox.h"

#include <gtest/gtest.h>

#include "heatsink/history/folder_for_test.h"

namespace heatsink::history {
namespace {

TEST(Mailbox, WhatDoesNotFitIsLostAndCounted) {
  Mailbox mailbox(4096);
  std::uint64_t fitting = 0;
  while (mailbox.add(counts_of(static_cast<std::int64_t>(fitting), {{"a", 1}}))) ++fitting;
  EXPECT_GT(fitting, 1U);
  EXPECT_LE(mailbox.bytes(), 4096U);
  EXPECT_EQ(mailbox.lost().seconds, 1U);
  EXPECT_FALSE(mailbox.add(KeptEvent{.reason = std::string(4096, 'x')}));
  EXPECT_EQ(mailbox.lost().events, 1U);
}

TEST(Mailbox, ABatchKeepsItsPlaceUntilItIsWritten) {
  Mailbox mailbox;
  mailbox.add(counts_of(1, {{"a", 1}}));
  std::vector<Record> batch = mailbox.take();
  const std::size_t held = mailbox.bytes();
  EXPECT_GT(held, 0U);
  mailbox.add(counts_of(2, {{"a", 1}}));
  mailbox.put_back(std::move(batch));
  batch = mailbox.take();
  ASSERT_EQ(batch.size(), 2U);
  EXPECT_EQ(std::get<Second>(batch[0]).end, at_second(2));
  mailbox.written(batch);
  EXPECT_EQ(mailbox.bytes(), 0U);
  EXPECT_EQ(mailbox.done().seconds, 2U);
}

}  // namespace
}  // namespace heatsink::history
