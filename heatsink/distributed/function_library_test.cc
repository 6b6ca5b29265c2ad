// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/function_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace heatsink::distributed {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const FunctionLibrary& numbers() {
  static const FunctionLibrary library("heatsink_numbers", "local one = 1",
                                       {{"add", "return redis.call('INCRBY', KEYS[1], one)"},
                                        {"look", "return redis.call('GET', KEYS[1])", false}});
  return library;
}

TEST(FunctionLibrary, EveryFunctionIsNamedAfterTheVersion) {
  const std::string version = numbers().name().substr(std::string("heatsink_numbers").size());
  EXPECT_EQ(version.size(), 17U);
  EXPECT_EQ(numbers().function("add").name, "heatsink_numbers_add" + version);
  EXPECT_EQ(numbers().function("look").name, "heatsink_numbers_look" + version);
  EXPECT_EQ(numbers().function("add").library, &numbers());
}

TEST(FunctionLibrary, AnotherTextIsAnotherVersion) {
  const auto named = [](std::string_view prelude, std::string_view body, bool writes) {
    return FunctionLibrary("x", prelude, {{"f", body, writes}}).name();
  };
  const std::string name = named("", "return 1", true);
  EXPECT_EQ(named("", "return 1", true), name);
  EXPECT_NE(named("", "return 2", true), name);
  EXPECT_NE(named("local a", "return 1", true), name);
  EXPECT_NE(named("", "return 1", false), name);
}

TEST(FunctionLibrary, TheSourceRegistersAllWithTheirFlags) {
  EXPECT_THAT(numbers().source(), StartsWith("#!lua name=" + numbers().name() + "\nlocal one = 1"));
  EXPECT_THAT(numbers().source(),
              HasSubstr("function_name='" + numbers().function("add").name + "', callback"));
  EXPECT_THAT(numbers().source(), HasSubstr("function_name='" + numbers().function("look").name +
                                            "', flags={'no-writes'}, callback"));
}

TEST(FunctionLibrary, AScriptIsThePreludeAndOneBody) {
  const ServerFunction& look = numbers().function("look");
  EXPECT_EQ(look.script, "local one = 1\nreturn redis.call('GET', KEYS[1])\n");
  EXPECT_THAT(look.script, Not(HasSubstr("INCRBY")));
  const FunctionLibrary one("x", "", {{"f", "return 1"}});
  EXPECT_EQ(one.function("f").sha1, "193cde15ebb0d8c62558e5f95c238b87e60b3992");
}

}  // namespace
}  // namespace heatsink::distributed
