// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/client_commands.h"

#include <gtest/gtest.h>

#include <numeric>

namespace heatsink::copies {
namespace {

std::vector<std::uint32_t> counts_of(const ClientCommands& commands) {
  std::vector<std::uint32_t> counts;
  commands.add_to(counts);
  return counts;
}

TEST(ClientCommands, WhatCameSinceTheLastCallIsOfTheClient) {
  ClientCommands commands;
  commands.note(3, 10);
  commands.note(7, 10);
  commands.note(7, 25);
  commands.note(3, 26);
  const auto counts = counts_of(commands);
  EXPECT_EQ(counts[3], 11U);
  EXPECT_EQ(counts[7], 15U);
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), 0U), 26U) << "each is counted once";
}

TEST(ClientCommands, AnyNumberHasAPlace) {
  ClientCommands commands;
  EXPECT_EQ(commands.memory_bytes(), 0U);
  commands.note(65'536, 5);
  commands.note(UINT32_MAX, 7);
  EXPECT_EQ(commands.memory_bytes(), 2 * 4096U) << "what is in between has no place";
  const auto counts = counts_of(commands);
  EXPECT_EQ(counts[65'536], 5U);
  EXPECT_EQ(counts[ClientCommands::kClientsMax - 1], 2U);
}

TEST(ClientCommands, CountsOfWorkersAreAdded) {
  ClientCommands one, other;
  one.note(1, 5);
  other.note(1, 6);
  other.note(2000, 8);
  std::vector<std::uint32_t> counts;
  one.add_to(counts);
  other.add_to(counts);
  EXPECT_EQ(counts[1], 11U);
  EXPECT_EQ(counts[2000], 2U);
}

}  // namespace
}  // namespace heatsink::copies
