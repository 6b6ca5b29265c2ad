// SPDX-License-Identifier: Apache-2.0
#include "heatsink/session/confirmation_counts.h"

#include <gtest/gtest.h>

#include <string>

namespace heatsink::proxy {
namespace {

// The same whatever the pieces.
std::string counted(std::string_view wire) {
  ConfirmationCounts whole;
  std::string out(whole.pass(wire));
  ConfirmationCounts by_byte;
  std::string pieces;
  for (const char c : wire) pieces += by_byte.pass({&c, 1});
  EXPECT_EQ(pieces, out);
  return out;
}

TEST(ConfirmationCounts, AddsOneToEachConfirmation) {
  EXPECT_EQ(counted("*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:9\r\n"
                    ">3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:0\r\n"),
            "*3\r\n$9\r\nsubscribe\r\n$1\r\na\r\n:10\r\n"
            ">3\r\n$11\r\nunsubscribe\r\n$1\r\na\r\n:1\r\n");
  EXPECT_EQ(counted("*3\r\n$12\r\npunsubscribe\r\n$-1\r\n:0\r\n"),
            "*3\r\n$12\r\npunsubscribe\r\n$-1\r\n:1\r\n");
}

TEST(ConfirmationCounts, LeavesAllElseAsItIs) {
  for (const std::string wire : {"*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$9\r\nsubscribe\r\n",
                                 ">3\r\n$10\r\nssubscribe\r\n$1\r\na\r\n:1\r\n",
                                 ">3\r\n$12\r\nsunsubscribe\r\n$1\r\na\r\n:1\r\n", "-NOPERM no\r\n",
                                 "$9\r\nsubscribe\r\n", "*0\r\n", "*1\r\n:1\r\n", "+OK\r\n"})
    EXPECT_EQ(counted(wire), wire);
}

TEST(ConfirmationCounts, AMessageBetweenIsNotTakenForAConfirmation) {
  const std::string message = "*3\r\n$7\r\nmessage\r\n$1\r\nb\r\n$2\r\n:1\r\n";
  EXPECT_EQ(counted(message + "*3\r\n$9\r\nsubscribe\r\n$2\r\n:7\r\n:1\r\n" + message),
            message + "*3\r\n$9\r\nsubscribe\r\n$2\r\n:7\r\n:2\r\n" + message);
}

TEST(ConfirmationCounts, ABigMessageStreamsThrough) {
  ConfirmationCounts counts;
  const std::string begin = "*3\r\n$7\r\nmessage\r\n$1\r\na\r\n$1000000\r\n";
  EXPECT_EQ(counts.pass(begin), begin);
  EXPECT_EQ(counts.pass("xxx"), "xxx");
}

TEST(ConfirmationCounts, WhatIsNoRespGoesOnForTheConnectionToFail) { EXPECT_EQ(counted("?"), "?"); }

}  // namespace
}  // namespace heatsink::proxy
