// SPDX-License-Identifier: Apache-2.0
// Whatever the arguments and the specs: every index is an argument, none occurs twice, and they
// ascend.
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>
#include <vector>

#include "heatsink/resp/command_table.h"

namespace heatsink::resp {
namespace {

constexpr std::uint32_t kSeed = 20240607;
constexpr std::size_t kArgsMax = 12;

constexpr std::string_view kWords[] = {"",
                                       "0",
                                       "1",
                                       "2",
                                       "3",
                                       "11",
                                       "-1",
                                       "9223372036854775807",
                                       "9223372036854775808",
                                       "*",
                                       "a_*",
                                       "k",
                                       "STORE",
                                       "store",
                                       "STOREDIST",
                                       "KEYS",
                                       "STREAMS",
                                       "GROUP",
                                       "BY",
                                       "GET",
                                       "LIMIT",
                                       "AUTH2",
                                       "AUTH",
                                       "COUNT",
                                       "OVERFLOW",
                                       "BLOCK",
                                       "-9223372036854775808"};

std::vector<std::string_view> some_args(const Command& command, std::mt19937& random) {
  std::vector<std::string_view> args(random() % kArgsMax + 1);
  for (std::string_view& arg : args) arg = kWords[random() % std::size(kWords)];
  args[0] = command.name;
  return args;
}

void expect_sound(const Command& command, std::mt19937& random, std::vector<KeyRef>& refs) {
  const std::vector<std::string_view> args = some_args(command, random);
  find_keys(command, args, refs);
  for (std::size_t i = 0; i < refs.size(); ++i) {
    ASSERT_GE(refs[i].arg, 1u) << command.name;
    ASSERT_LT(refs[i].arg, args.size()) << command.name;
    if (i > 0) {
      ASSERT_LT(refs[i - 1].arg, refs[i].arg) << command.name;
    }
  }
}

TEST(FindKeysProperty, SoundForEveryCommandAndAnyArguments) {
  std::mt19937 random(kSeed);
  std::vector<KeyRef> refs;
  for (const Command& command : CommandTable::built_in().commands()) {
    for (int round = 0; round < 300; ++round)
      ASSERT_NO_FATAL_FAILURE(expect_sound(command, random, refs));
  }
}

std::int32_t some_number(std::mt19937& random) {
  constexpr std::int32_t kNumbers[] = {
      std::numeric_limits<std::int32_t>::min(), -3, -2, -1, 0, 1, 2, 3, 12,
      std::numeric_limits<std::int32_t>::max()};
  return kNumbers[random() % std::size(kNumbers)];
}

KeySpec some_spec(std::mt19937& random) {
  KeySpec spec;
  spec.begin = static_cast<KeySpec::Begin>(random() % 3);
  spec.index = some_number(random);
  spec.keyword = "store";
  spec.find = static_cast<KeySpec::Find>(random() % 3);
  for (std::int32_t* field : {&spec.last_key, &spec.key_step, &spec.limit, &spec.keynum_index,
                              &spec.first_key, &spec.keynum_step}) {
    *field = some_number(random);
  }
  spec.writes = random() % 2 == 0;
  return spec;
}

TEST(FindKeysProperty, SoundForAnySpecs) {
  std::mt19937 random(kSeed);
  std::vector<KeyRef> refs;
  for (int round = 0; round < 100'000; ++round) {
    Command command{.name = "m.x"};
    command.key_specs.resize(random() % 3 + 1);
    for (KeySpec& spec : command.key_specs) spec = some_spec(random);
    ASSERT_NO_FATAL_FAILURE(expect_sound(command, random, refs));
  }
}

}  // namespace
}  // namespace heatsink::resp
