// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/known_commands.h"

#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::proxy {
namespace {

const resp::Command* find_in(const KnownCommands& known, std::string_view name) {
  const std::array<std::string_view, 1> args = {name};
  return known.find(args);
}
const CommandFacts& facts_in(const KnownCommands& known, std::string_view name) {
  return known.facts(*find_in(known, name));
}

// A server with these commands, each of which reads one key.
std::shared_ptr<const resp::CommandTable> table_of(const std::vector<std::string>& names) {
  std::string wire = "*" + std::to_string(names.size()) + "\r\n";
  for (const std::string& name : names)
    wire += "*6\r\n$" + std::to_string(name.size()) + "\r\n" + name +
            "\r\n:-2\r\n*1\r\n+readonly\r\n:1\r\n:1\r\n:1\r\n";
  resp::Value reply;
  std::size_t used = 0;
  EXPECT_EQ(resp::parse_value(wire, reply, used), resp::ValueStatus::kValue);
  return std::make_shared<resp::CommandTable>(resp::CommandTable::from_reply(reply).value());
}

TEST(KnownCommands, AreTheBuiltInOnesAtFirst) {
  const KnownCommands known(nullptr);
  EXPECT_EQ(facts_in(known, "GET").route, Route::kShared);
  EXPECT_EQ(facts_in(known, "blpop").route, Route::kBlocking);
  EXPECT_EQ(find_in(known, "NO-SUCH-COMMAND"), nullptr);
  EXPECT_EQ(facts_in(known, "get").number, detect::kNoCommand);
}

TEST(KnownCommands, EachHasANumberForTheSizesOfItsReplies) {
  const KnownCommands known(nullptr);
  std::set<std::uint16_t> numbers;
  for (const resp::Command& command : resp::CommandTable::built_in().commands())
    numbers.insert(known.facts(command).sized_as);
  EXPECT_EQ(numbers.size(), resp::CommandTable::built_in().size());
  EXPECT_FALSE(numbers.contains(0));
  EXPECT_EQ(known.get_sized_as(), facts_in(known, "get").sized_as);
  EXPECT_EQ(known.mget_sized_as(), facts_in(known, "mget").sized_as);
  EXPECT_NE(known.get_sized_as(), known.mget_sized_as());
}

TEST(KnownCommands, AreThoseOfTheServerOnceItHasToldThem) {
  KnownCommands known(nullptr);
  known.set(table_of({"get", "set"}));
  EXPECT_EQ(find_in(known, "mget"), nullptr);
  EXPECT_EQ(known.mget_sized_as(), 0);
  EXPECT_EQ(known.get_sized_as(), facts_in(known, "get").sized_as);
}

TEST(KnownCommands, HashesAreServedLocallyUnlessTheExpiryOfTheirFieldsIsHidden) {
  KnownCommands known(nullptr);
  known.set(table_of({"get", "hget"}));
  EXPECT_NE(facts_in(known, "hget").local, nullptr);
  known.set(table_of({"get", "hget", "hpexpire", "hpttl"}));
  EXPECT_NE(facts_in(known, "hget").local, nullptr);
  known.set(table_of({"get", "hget", "hlen", "hpexpire"}));
  EXPECT_EQ(facts_in(known, "hget").local, nullptr);
  EXPECT_NE(facts_in(known, "hlen").local, nullptr);
  EXPECT_NE(facts_in(known, "get").local, nullptr);
}

TEST(KnownCommands, AccessesCarryTheNumberOfTheirCommand) {
  CommandNumbers numbers;
  const KnownCommands known(&numbers);
  EXPECT_EQ(numbers.name(facts_in(known, "get").number), "GET");
}

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
