// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/touched_keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

namespace heatsink::copies {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TouchedKey key(std::uint64_t name) { return {NameHash{name}, KeyHash{name}, false}; }

std::vector<std::uint64_t> names(const TouchedKeys& keys) {
  std::vector<std::uint64_t> names;
  keys.for_each([&](const TouchedKey& each) { names.push_back(each.name.value); });
  EXPECT_EQ(keys.size(), names.size());
  return names;
}

TEST(TouchedKeys, AreVisitedInOrder) {
  TouchedKeys keys;
  EXPECT_THAT(names(keys), IsEmpty());
  for (std::uint64_t i = 1; i <= 4; ++i) keys.add(key(i));
  EXPECT_THAT(names(keys), ElementsAre(1, 2, 3, 4));
}

TEST(TouchedKeys, OfATransactionJoinThoseOfItsCommands) {
  TouchedKeys one;
  one.add(key(1));
  TouchedKeys more;
  more.add(key(2));
  more.add(key(3));
  one.append(more);
  EXPECT_THAT(names(one), ElementsAre(1, 2, 3));
  EXPECT_THAT(names(more), ElementsAre(2, 3));
}

TEST(TouchedKeys, Move) {
  TouchedKeys from;
  from.add({NameHash{1}, KeyHash{9}, true});
  from.add(key(2));
  const TouchedKeys to = std::move(from);
  EXPECT_THAT(names(to), ElementsAre(1, 2));
  to.for_each([](const TouchedKey& each) { EXPECT_EQ(each.write, each.name.value == 1); });
}

TEST(TouchedKeys, KnowsWhetherAnyKeyIsWritten) {
  TouchedKeys reads;
  reads.add({NameHash{1}, KeyHash{1}, false});
  EXPECT_FALSE(reads.has_writes());
  TouchedKeys keys;
  keys.add({NameHash{2}, KeyHash{2}, false});
  keys.add({NameHash{3}, KeyHash{3}, true});
  keys.add({NameHash{4}, KeyHash{4}, false});
  EXPECT_TRUE(keys.has_writes());
  reads.append(keys);
  EXPECT_TRUE(reads.has_writes());
}

}  // namespace
}  // namespace heatsink::copies
