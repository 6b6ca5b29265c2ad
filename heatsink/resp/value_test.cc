// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/value.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace heatsink::resp {
namespace {

using Type = Value::Type;

ValueStatus status_of(std::string_view bytes, const ValueLimits& limits = {}) {
  Value value;
  std::size_t consumed = 0;
  return parse_value(bytes, value, consumed, limits);
}

// REQUIRES a whole valid value.
Value parsed(std::string_view bytes) {
  Value value;
  std::size_t consumed = 0;
  EXPECT_EQ(parse_value(bytes, value, consumed), ValueStatus::kValue) << bytes;
  EXPECT_EQ(consumed, bytes.size()) << bytes;
  return value;
}

TEST(Value, TextOfEachType) {
  const std::pair<std::string, std::pair<Type, std::string>> cases[] = {
      {"$5\r\nhe\r\no\r\n", {Type::kString, "he\r\no"}},
      {"$0\r\n\r\n", {Type::kString, ""}},
      {"=7\r\ntxt:a\nb\r\n", {Type::kString, "a\nb"}},
      {"+OK\r\n", {Type::kSimple, "OK"}},
      {"-ERR no\r\n", {Type::kError, "ERR no"}},
      {"!5\r\nERR a\r\n", {Type::kError, "ERR a"}},
      {",-inf\r\n", {Type::kDouble, "-inf"}},
      {"(3492890328409238509324850943850943825024385\r\n",
       {Type::kBigNumber, "3492890328409238509324850943850943825024385"}},
  };
  for (const auto& [bytes, expected] : cases) {
    const Value value = parsed(bytes);
    EXPECT_EQ(value.type, expected.first) << bytes;
    EXPECT_EQ(value.text, expected.second) << bytes;
  }
}

TEST(Value, NumbersBooleansNulls) {
  EXPECT_EQ(parsed(":-9223372036854775808\r\n").integer, std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(parsed("#t\r\n").integer, 1);
  EXPECT_EQ(parsed("#f\r\n").type, Type::kBoolean);
  for (const char* null : {"$-1\r\n", "*-1\r\n", "_\r\n"})
    EXPECT_EQ(parsed(null).type, Type::kNull) << null;
}

TEST(Value, AggregatesNest) {
  const Value value = parsed("*3\r\n~1\r\n:7\r\n%1\r\n+k\r\n>0\r\n$-1\r\n");
  ASSERT_EQ(value.items.size(), 3u);
  EXPECT_EQ(value.items[0].type, Type::kSet);
  EXPECT_EQ(value.items[0].items[0].integer, 7);
  ASSERT_EQ(value.items[1].items.size(), 2u);
  EXPECT_EQ(value.items[1].items[1].type, Type::kPush);
  EXPECT_EQ(value.items[2].type, Type::kNull);
}

TEST(Value, FindsInMapsAndInTheirFlatForm) {
  for (const char* bytes :
       {"%2\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n:2\r\n", "*4\r\n$1\r\na\r\n:1\r\n$1\r\nb\r\n:2\r\n"}) {
    const Value value = parsed(bytes);
    ASSERT_NE(value.find("b"), nullptr);
    EXPECT_EQ(value.find("b")->integer, 2);
    EXPECT_EQ(value.find("c"), nullptr);
  }
  EXPECT_EQ(parsed("+b\r\n").find("b"), nullptr);
}

TEST(Value, AttributesAreDroppedWhereverTheyStand) {
  const Value value =
      parsed("|1\r\n+ttl\r\n:9\r\n*2\r\n|1\r\n+a\r\n*1\r\n:1\r\n:5\r\n|0\r\n|0\r\n:6\r\n");
  ASSERT_EQ(value.items.size(), 2u);
  EXPECT_EQ(value.items[0].integer, 5);
  EXPECT_EQ(value.items[1].integer, 6);
}

TEST(Value, EveryPrefixNeedsMore) {
  const std::string bytes = "*2\r\n%1\r\n+k\r\n=5\r\ntxt:v\r\n|1\r\n:1\r\n_\r\n#t\r\n";
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    EXPECT_EQ(status_of(std::string_view(bytes).substr(0, n)), ValueStatus::kNeedMore) << n;
  }
  EXPECT_EQ(status_of(bytes), ValueStatus::kValue);
}

TEST(Value, MalformedIsAnError) {
  for (const char* bytes : {"x\r\n",
                            "$?\r\n",
                            "*?\r\n",
                            ";4\r\nabcd\r\n",
                            ".\r\n",
                            "$-2\r\n",
                            "*-2\r\n",
                            "~-1\r\n",
                            "%-1\r\n",
                            "=3\r\nabc\r\n",
                            "$01\r\na\r\n",
                            "$ 1\r\n",
                            "$1\rXa\r\n",
                            "$1\r\naXY",
                            "$1\r\na\rX",
                            ":1a\r\n",
                            ":\r\n",
                            ":9223372036854775808\r\n",
                            "#x\r\n",
                            "_x\r\n",
                            "$99999999999999999999\r\n",
                            "%4611686018427387904\r\n"}) {
    EXPECT_EQ(status_of(bytes), ValueStatus::kError) << bytes;
  }
  EXPECT_EQ(status_of("$" + std::string(65, '1')), ValueStatus::kError);
}

TEST(Value, LimitsAreErrors) {
  EXPECT_EQ(status_of("*1\r\n*1\r\n:1\r\n", {.depth_max = 2}), ValueStatus::kValue);
  EXPECT_EQ(status_of("*1\r\n*1\r\n:1\r\n", {.depth_max = 1}), ValueStatus::kError);
  EXPECT_EQ(status_of("$100\r\n", {.bytes_max = 99}), ValueStatus::kError);
  EXPECT_EQ(status_of("+aaaaaaaa", {.bytes_max = 8}), ValueStatus::kError);
  EXPECT_EQ(status_of("*3\r\n", {.items_max = 2}), ValueStatus::kError);
  EXPECT_EQ(status_of("*2\r\n:1\r\n*1\r\n:1\r\n", {.items_max = 2}), ValueStatus::kError);
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "*1\r\n";
  EXPECT_EQ(status_of(deep), ValueStatus::kError);
}

TEST(Value, ErrorsOfUnknownCommandsAreTold) {
  EXPECT_TRUE(is_unknown_command("ERR unknown command 'FCALL', with args beginning with: 'f' "));
  EXPECT_TRUE(is_unknown_command("ERR unknown subcommand 'SLOT-STATS'. Try CLUSTER HELP."));
  EXPECT_TRUE(is_unknown_command("ERR Unknown subcommand or wrong number of arguments for 'X'."));
  EXPECT_FALSE(is_unknown_command("ERR unknown slot"));
  EXPECT_FALSE(is_unknown_command("NOPERM this user has no permissions to run 'get'"));
}

}  // namespace
}  // namespace heatsink::resp
