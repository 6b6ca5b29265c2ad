// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/command_numbers.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

TEST(CommandNumbers, ANameKeepsItsNumberAndIsShownAsPeopleWriteIt) {
  CommandNumbers commands;
  const std::uint16_t get = commands.number("get");
  const std::uint16_t id = commands.number("client|id");
  EXPECT_NE(get, id);
  EXPECT_EQ(commands.number("get"), get);
  EXPECT_EQ(commands.name(get), "GET");
  EXPECT_EQ(commands.name(id), "CLIENT ID");
}

TEST(CommandNumbers, TooManyNamesShareTheLastNumber) {
  CommandNumbers commands;
  for (std::size_t i = 0; i < CommandNumbers::kCommandsMax; ++i)
    commands.number("c" + std::to_string(i));
  EXPECT_EQ(commands.number("one"), commands.number("two"));
  EXPECT_EQ(commands.name(commands.number("one")), "others");
  EXPECT_EQ(commands.name(commands.number("c7")), "C7");
}

}  // namespace
}  // namespace heatsink::proxy
