// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/name_pool.h"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>
#include <set>

namespace heatsink::detect {
namespace {

std::string text_of(const NamePool& pool, std::uint32_t chain, std::size_t size) {
  std::string out;
  pool.append_to(out, chain, size);
  return out;
}

TEST(NamePool, KeepsTextsApartUnderRandomUse) {
  NamePool pool(4096);
  std::map<std::uint32_t, std::string> model;
  std::mt19937 random(3);
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    if (random() % 2 == 0 || model.empty()) {
      const std::string text(1 + random() % 300, static_cast<char>('a' + random() % 26));
      const std::uint32_t chain = pool.store(text, 1);
      if (chain == NamePool::kNone) {
        ++refused;
      } else {
        ASSERT_TRUE(model.emplace(chain, text).second);
      }
    } else {
      const auto victim = std::next(model.begin(), static_cast<int>(random() % model.size()));
      ASSERT_EQ(text_of(pool, victim->first, victim->second.size()), victim->second);
      pool.release(victim->first);
      model.erase(victim);
    }
  }
  EXPECT_GT(refused, 0);
  for (const auto& [chain, text] : model) EXPECT_EQ(text_of(pool, chain, text.size()), text);
}

TEST(NamePool, AllRoomComesBack) {
  NamePool pool(64 * 10);
  const std::string longest(56 * 10, 'x');
  for (int round = 0; round < 3; ++round) {
    const std::uint32_t chain = pool.store(longest, 0);
    ASSERT_NE(chain, NamePool::kNone);
    EXPECT_EQ(pool.store("y", 1), NamePool::kNone);
    pool.release(chain);
  }
  EXPECT_TRUE(pool.ever_holds(longest.size()));
  EXPECT_FALSE(pool.ever_holds(longest.size() + 1));
}

TEST(NamePool, ARoundMeetsEveryOwnerOnce) {
  NamePool pool(64 * 6);
  pool.store(std::string(100, 'a'), 7);  // two chunks
  pool.store("b", 8);
  std::multiset<std::uint32_t> owners;
  for (int step = 0; step < 6; ++step) owners.insert(pool.next_owner());
  EXPECT_EQ(owners.count(7), 1u);
  EXPECT_EQ(owners.count(8), 1u);
  EXPECT_EQ(owners.count(NamePool::kNone), 4u);
}

TEST(NamePool, WithoutRoomItRefuses) {
  NamePool pool(0);
  EXPECT_EQ(pool.store("x", 0), NamePool::kNone);
  EXPECT_EQ(pool.next_owner(), NamePool::kNone);
}

}  // namespace
}  // namespace heatsink::detect
