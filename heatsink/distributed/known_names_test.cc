// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/known_names.h"

#include <gtest/gtest.h>

#include <deque>
#include <string>

namespace heatsink::distributed {
namespace {

// Each length up to well past what fits into the words, and of each length names that differ in one
// byte alone, wherever that is.
TEST(KnownNames, EachByteCounts) {
  KnownNames known(7);
  std::deque<std::string> names;
  for (std::size_t length = 0; length <= 70; ++length) {
    names.emplace_back(length, 'a');
    for (std::size_t at = 0; at < length; ++at) {
      names.emplace_back(length, 'a');
      names.back()[at] = 'b';
    }
  }
  for (std::uint32_t i = 0; i < names.size(); ++i) {
    EXPECT_EQ(known.find(names[i]), KnownNames::kUnknown) << names[i];
    known.add(names[i], i);
  }
  for (std::uint32_t i = 0; i < names.size(); ++i) EXPECT_EQ(known.find(names[i]), i) << names[i];
  EXPECT_EQ(known.size(), names.size());
  EXPECT_LE(known.memory_bytes(), names.size() * 4 * 48);
}

TEST(KnownNames, ZerosAreBytes) {
  KnownNames known(7);
  const std::string zeros(40, '\0');
  for (std::uint32_t length = 0; length <= zeros.size(); ++length)
    known.add(std::string_view(zeros).substr(0, length), length);
  for (std::uint32_t length = 0; length <= zeros.size(); ++length)
    EXPECT_EQ(known.find(std::string_view(zeros).substr(0, length)), length);
}

TEST(KnownNames, AnotherPlaceInMemoryIsTheSameName) {
  KnownNames known(7);
  const std::string name(50, 'x');
  known.add(name, 3);
  EXPECT_EQ(known.find(std::string(50, 'x')), 3U);
  EXPECT_EQ(known.find(std::string(50, 'x') + "x"), KnownNames::kUnknown);
}

// For any secret: each search ends, at its name or at a free entry.
TEST(KnownNames, ManyNamesWithAnySecret) {
  for (const std::uint64_t secret : {0ULL, 1ULL, ~0ULL}) {
    KnownNames known(secret);
    std::deque<std::string> names;
    for (std::uint32_t i = 0; i < 5000; ++i) {
      names.push_back("api:" + std::to_string(i) + ":latency:us");
      known.add(names.back(), i);
    }
    for (std::uint32_t i = 0; i < names.size(); ++i) ASSERT_EQ(known.find(names[i]), i);
    EXPECT_EQ(known.find("api:5000:latency:us"), KnownNames::kUnknown);
  }
}

}  // namespace
}  // namespace heatsink::distributed
