// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/size_of.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace heatsink::client {

struct Described {
  std::string description;
};
template <>
struct SizeOf<Described> {
  static std::size_t bytes(const Described& value) {
    return sizeof(value) + value.description.size();
  }
};

namespace {

TEST(SizeOf, KnowsStringsAndVectorsOfPlainValues) {
  EXPECT_EQ(SizeOf<std::string>::bytes(std::string(100, 'x')), sizeof(std::string) + 100);
  EXPECT_EQ(SizeOf<std::vector<int>>::bytes(std::vector<int>(10)),
            sizeof(std::vector<int>) + 10 * sizeof(int));
}

TEST(SizeOf, OfOthersIsWhatTheCompilerKnowsOrTheCallerSays) {
  EXPECT_EQ(SizeOf<int>::bytes(1), sizeof(int));
  using Names = std::vector<std::string>;
  EXPECT_EQ(SizeOf<Names>::bytes(Names(10)), sizeof(Names)) << "what they own is not known";
  EXPECT_EQ(SizeOf<Described>::bytes({.description = "1234"}), sizeof(Described) + 4);
}

}  // namespace
}  // namespace heatsink::client
