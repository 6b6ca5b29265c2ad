// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/kept_keys.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>

#include "heatsink/cache/pins.h"

namespace heatsink::client {
namespace {

constexpr KeptKeys::Limits kRoomy{.missing = 10, .bytes = SIZE_MAX};

KeyHash hash_of(std::uint64_t n) { return KeyHash{n}; }

SharedCachedValue value(int n) { return std::make_shared<CachedValueOf<int>>(n); }
SharedCachedValue nothing() { return std::make_shared<MissingValue>(); }

int shown(const KeptKeys& keys, std::uint64_t hash, const std::string& key) {
  const cache::Pin pin;
  const CachedValue* const cached = keys.find(hash_of(hash), key).cached;
  if (cached == nullptr) return -1;
  return cached->missing ? 0 : static_cast<const CachedValueOf<int>*>(cached)->value;
}

TEST(KeptKeys, FindsWhatWasAddedUnderItsNameOnly) {
  KeptKeys keys(kRoomy);
  const cache::Pin pin;
  EXPECT_FALSE(keys.find(hash_of(1), "a").is_hot);
  EXPECT_TRUE(keys.add("a", hash_of(1)));
  ASSERT_TRUE(keys.find(hash_of(1), "a").is_hot);
  EXPECT_FALSE(keys.find(hash_of(1), "b").is_hot) << "another key of the same hash";
  EXPECT_FALSE(keys.add("b", hash_of(1))) << "one of them can be hot";
  EXPECT_FALSE(keys.find(hash_of(2), "a").is_hot);
}

TEST(KeptKeys, TellsNamesApartThatDifferInAnyByte) {
  for (std::size_t size = 0; size < 40; ++size) {
    const std::string name(size, 'x');
    EXPECT_TRUE(is_same_name(name, std::string(size, 'x')));
    EXPECT_FALSE(is_same_name(name, name + "x"));
    for (std::size_t at = 0; at < size; ++at) {
      std::string other = name;
      other[at] = 'y';
      EXPECT_FALSE(is_same_name(name, other)) << size << " bytes, at " << at;
    }
  }
}

TEST(KeptKeys, HoldsManyWhoseHashesCollideInTheirLowBits) {
  KeptKeys keys(kRoomy);
  for (std::uint64_t i = 0; i < 500; ++i)
    ASSERT_TRUE(keys.add("key" + std::to_string(i), hash_of(i << 32 | 7)));
  const cache::Pin pin;
  for (std::uint64_t i = 0; i < 500; ++i)
    ASSERT_TRUE(keys.find(hash_of(i << 32 | 7), "key" + std::to_string(i)).is_hot) << i;
  EXPECT_FALSE(keys.find(hash_of(std::uint64_t{500} << 32 | 7), "key500").is_hot);
}

// Compared with a map, including colliding hashes and keys that return.
TEST(KeptKeys, KnowWhatIsThereHoweverKeysComeAndGo) {
  KeptKeys keys(kRoomy);
  std::map<std::uint64_t, int> model;  // -1: no copy
  std::mt19937_64 random(1);
  for (int step = 0; step < 20'000; ++step) {
    const std::uint64_t n = random() % 300, hash = n % 3 == 0 ? n << 32 : n * 0x9E3779B97F4A7C15;
    const std::string name = std::to_string(n);
    const auto choice = random() % 4;
    if (choice == 0) {
      EXPECT_EQ(keys.add(name, hash_of(hash)), model.try_emplace(n, -1).second);
    } else if (choice == 1) {
      EXPECT_EQ(keys.remove(hash_of(hash)), model.erase(n) == 1);
    } else if (choice == 2) {
      EXPECT_EQ(keys.put(hash_of(hash), value(step)), model.contains(n));
      if (model.contains(n)) model[n] = step;
    } else {
      keys.drop(hash_of(hash));
      if (model.contains(n)) model[n] = -1;
    }
    const cache::Pin pin;
    ASSERT_EQ(keys.find(hash_of(hash), name).is_hot, model.contains(n)) << step;
    ASSERT_EQ(shown(keys, hash, name), model.contains(n) ? model[n] : -1) << step;
  }
  EXPECT_EQ(keys.size(), model.size());
}

TEST(KeptKeys, OnlyAHotKeyHasACopy) {
  KeptKeys keys(kRoomy);
  EXPECT_FALSE(keys.put(hash_of(1), value(5)));
  keys.add("a", hash_of(1));
  EXPECT_EQ(shown(keys, 1, "a"), -1);
  EXPECT_TRUE(keys.put(hash_of(1), value(5)));
  EXPECT_EQ(shown(keys, 1, "a"), 5);
  EXPECT_TRUE(keys.put(hash_of(1), value(6)));
  EXPECT_EQ(shown(keys, 1, "a"), 6);
  EXPECT_EQ(keys.held().copies, 1U);
  keys.drop(hash_of(1));
  EXPECT_EQ(shown(keys, 1, "a"), -1);
  EXPECT_EQ(keys.held().copies, 0U);
}

TEST(KeptKeys, ADemotedKeyTakesItsCopyWithIt) {
  KeptKeys keys(kRoomy);
  keys.add("a", hash_of(1));
  keys.put(hash_of(1), value(5));
  EXPECT_TRUE(keys.remove(hash_of(1)));
  EXPECT_FALSE(keys.remove(hash_of(1)));
  EXPECT_EQ(keys.size(), 0U);
  EXPECT_EQ(keys.held().copies, 0U);
  keys.add("a", hash_of(1));
  EXPECT_EQ(shown(keys, 1, "a"), -1);
}

TEST(KeptKeys, MissingOnesHaveAQuotaOfTheirOwn) {
  KeptKeys keys({.missing = 1, .bytes = SIZE_MAX});
  keys.add("a", hash_of(1));
  keys.add("b", hash_of(2));
  EXPECT_TRUE(keys.put(hash_of(1), nothing()));
  keys.put(hash_of(2), value(5));
  EXPECT_FALSE(keys.put(hash_of(2), nothing()));
  EXPECT_EQ(shown(keys, 2, "b"), -1) << "what it had is not true any more";
  EXPECT_TRUE(keys.put(hash_of(1), nothing())) << "instead of itself it may";
  keys.drop(hash_of(1));
  EXPECT_TRUE(keys.put(hash_of(2), nothing()));
}

TEST(KeptKeys, CopiesHaveALimitInBytes) {
  const auto text = [](std::size_t size) {
    return std::make_shared<CachedValueOf<std::string>>(std::string(size, 'x'));
  };
  const std::size_t empty = text(0)->bytes;
  KeptKeys keys({.missing = 10, .bytes = 2 * (empty + 1) + 1000});
  keys.add("a", hash_of(1));
  keys.add("b", hash_of(2));
  EXPECT_TRUE(keys.put(hash_of(1), text(600)));
  EXPECT_EQ(keys.held().bytes, empty + 1 + 600) << "with the name";
  EXPECT_FALSE(keys.put(hash_of(2), text(401)));
  EXPECT_TRUE(keys.put(hash_of(2), text(400)));
  EXPECT_EQ(keys.held().no_room, 1U);
  EXPECT_TRUE(keys.put(hash_of(1), text(500))) << "in the slot of its old one";
  EXPECT_FALSE(keys.put(hash_of(1), text(601)));
  EXPECT_EQ(shown(keys, 1, "a"), -1) << "what it had is not true any more";
  keys.remove(hash_of(2));
  EXPECT_EQ(keys.held().bytes, 0U);
  EXPECT_TRUE(keys.put(hash_of(1), text(1001)));
}

TEST(KeptKeys, WhatIsPinnedStaysAsItWas) {
  auto keys = std::make_unique<KeptKeys>(kRoomy);
  keys->add("a", hash_of(1));
  keys->put(hash_of(1), value(5));
  const cache::Pin pin;
  const CachedValue* const cached = keys->find(hash_of(1), "a").cached;
  keys->put(hash_of(1), value(6));
  keys.reset();
  cache::collect_retired();
  EXPECT_EQ(static_cast<const CachedValueOf<int>*>(cached)->value, 5);
}

}  // namespace
}  // namespace heatsink::client
