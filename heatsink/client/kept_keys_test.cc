// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/kept_keys.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <string>

#include "heatsink/admit/admit.h"
#include "heatsink/cache/read_guard.h"
#include "heatsink/client/start_for_test.h"

namespace heatsink::client {
namespace {

constexpr KeptKeys::Limits kRoomy{.missing = 10, .bytes = SIZE_MAX};

KeyHash hash_of(std::uint64_t n) { return KeyHash{n}; }

SharedCachedValue value(int n) { return std::make_shared<CachedValueOf<int>>(n); }
SharedCachedValue nothing() { return std::make_shared<MissingValue>(); }

int shown(const KeptKeys& keys, std::uint64_t hash, const std::string& key) {
  const cache::ReadGuard guard;
  const CachedValue* const cached = keys.find(hash_of(hash), key).cached;
  if (cached == nullptr) return -1;
  return cached->missing ? 0 : static_cast<const CachedValueOf<int>*>(cached)->value;
}

TEST(KeptKeys, FindsWhatWasAddedUnderItsNameOnly) {
  KeptKeys keys(kRoomy);
  const cache::ReadGuard guard;
  EXPECT_FALSE(keys.find(hash_of(1), "a").is_kept);
  EXPECT_TRUE(keys.make_hot("a", hash_of(1)));
  ASSERT_TRUE(keys.find(hash_of(1), "a").is_kept);
  EXPECT_FALSE(keys.find(hash_of(1), "b").is_kept) << "another key of the same hash";
  EXPECT_FALSE(keys.make_hot("b", hash_of(1))) << "one of them can be hot";
  EXPECT_FALSE(keys.find(hash_of(2), "a").is_kept);
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
    ASSERT_TRUE(keys.make_hot("key" + std::to_string(i), hash_of(i << 32 | 7)));
  const cache::ReadGuard guard;
  for (std::uint64_t i = 0; i < 500; ++i)
    ASSERT_TRUE(keys.find(hash_of(i << 32 | 7), "key" + std::to_string(i)).is_kept) << i;
  EXPECT_FALSE(keys.find(hash_of(std::uint64_t{500} << 32 | 7), "key500").is_kept);
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
      EXPECT_EQ(keys.make_hot(name, hash_of(hash)), model.try_emplace(n, -1).second);
    } else if (choice == 1) {
      EXPECT_EQ(keys.remove(hash_of(hash)), model.erase(n) == 1);
    } else if (choice == 2) {
      EXPECT_EQ(keys.put(hash_of(hash), value(step)), model.contains(n));
      if (model.contains(n)) model[n] = step;
    } else {
      keys.drop(hash_of(hash));
      if (model.contains(n)) model[n] = -1;
    }
    const cache::ReadGuard guard;
    ASSERT_EQ(keys.find(hash_of(hash), name).is_kept, model.contains(n)) << step;
    ASSERT_EQ(shown(keys, hash, name), model.contains(n) ? model[n] : -1) << step;
  }
  EXPECT_EQ(keys.held().keys, model.size());
}

TEST(KeptKeys, OnlyAHotKeyHasACopy) {
  KeptKeys keys(kRoomy);
  EXPECT_FALSE(keys.put(hash_of(1), value(5)));
  keys.make_hot("a", hash_of(1));
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
  keys.make_hot("a", hash_of(1));
  keys.put(hash_of(1), value(5));
  EXPECT_TRUE(keys.remove(hash_of(1)));
  EXPECT_FALSE(keys.remove(hash_of(1)));
  EXPECT_EQ(keys.held().keys, 0U);
  EXPECT_EQ(keys.held().copies, 0U);
  keys.make_hot("a", hash_of(1));
  EXPECT_EQ(shown(keys, 1, "a"), -1);
}

TEST(KeptKeys, MissingOnesHaveAQuotaOfTheirOwn) {
  KeptKeys keys({.missing = 1, .bytes = SIZE_MAX});
  keys.make_hot("a", hash_of(1));
  keys.make_hot("b", hash_of(2));
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
  keys.make_hot("a", hash_of(1));
  keys.make_hot("b", hash_of(2));
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

TEST(KeptKeys, DropsTheCopiesThatAreNamed) {
  KeptKeys keys(kRoomy);
  for (std::uint64_t n = 1; n <= 3; ++n) {
    keys.make_hot("k" + std::to_string(n), hash_of(n));
    auto cached = std::make_shared<CachedValueOf<int>>(static_cast<int>(n));
    cached->server = static_cast<std::uint16_t>(n);
    keys.put(hash_of(n), std::move(cached));
  }
  keys.drop_if([](std::string_view key, const CachedValue& cached) {
    return key == "k1" || cached.server == 3;
  });
  EXPECT_EQ(shown(keys, 1, "k1"), -1);
  EXPECT_EQ(shown(keys, 2, "k2"), 2);
  EXPECT_EQ(shown(keys, 3, "k3"), -1);
  EXPECT_EQ(keys.held().copies, 1u);
  EXPECT_EQ(keys.held().keys, 3u);
}

TEST(KeptKeys, WhatIsGuardedStaysAsItWas) {
  auto keys = std::make_unique<KeptKeys>(kRoomy);
  keys->make_hot("a", hash_of(1));
  keys->put(hash_of(1), value(5));
  const cache::ReadGuard guard;
  const CachedValue* const cached = keys->find(hash_of(1), "a").cached;
  keys->put(hash_of(1), value(6));
  keys.reset();
  cache::collect_retired();
  EXPECT_EQ(static_cast<const CachedValueOf<int>*>(cached)->value, 5);
}

// Room for three keys, which nobody has made hot.
class EarnedKeysTest : public testing::Test {
 protected:
  EarnedKeysTest() { keys_.set_order(admit::EvictionOrder::kClock); }
  void admit(std::uint64_t n, int number) {
    ASSERT_TRUE(keys_.admit(std::to_string(n), hash_of(n)));
    ASSERT_TRUE(keys_.put(hash_of(n), value(number)));
  }
  int read(std::uint64_t n) { return shown(keys_, n, std::to_string(n)); }
  bool has(std::uint64_t n) { return keys_.has(hash_of(n)); }

  KeptKeys keys_{{.keys = 3, .missing = 1, .bytes = SIZE_MAX}};
};

TEST_F(EarnedKeysTest, TheOldestThatWasNotReadMakesRoom) {
  for (std::uint64_t n = 1; n <= 3; ++n) admit(n, 5);
  EXPECT_EQ(read(1), 5);
  admit(4, 5);
  EXPECT_TRUE(has(1));
  EXPECT_FALSE(has(2));
  EXPECT_EQ(keys_.held().keys, 3U);
  EXPECT_EQ(keys_.held().evictions, 1U);
  EXPECT_EQ(keys_.held().evictions_for_bytes, 0U);
}

TEST_F(EarnedKeysTest, HotKeysStayAndTakeTheRoomOfOthers) {
  for (std::uint64_t n = 1; n <= 3; ++n) admit(n, 5);
  EXPECT_TRUE(keys_.make_hot("1", hash_of(1)));
  EXPECT_EQ(read(1), 5) << "it keeps the copy that it has earned";
  EXPECT_FALSE(keys_.is_hot(hash_of(2)));
  for (std::uint64_t n = 4; n <= 5; ++n) EXPECT_TRUE(keys_.make_hot(std::to_string(n), hash_of(n)));
  EXPECT_EQ(keys_.held().hot, 3U);
  EXPECT_EQ(keys_.held().keys, 3U);
  EXPECT_FALSE(keys_.admit("6", hash_of(6)));
  EXPECT_TRUE(keys_.cool(hash_of(1)));
  EXPECT_FALSE(keys_.cool(hash_of(1)));
  EXPECT_EQ(read(1), 5);
  EXPECT_TRUE(keys_.admit("6", hash_of(6)));
  EXPECT_FALSE(has(1));
}

TEST_F(EarnedKeysTest, AnotherKeyOfTheSameHashEarnsNothing) {
  admit(1, 5);
  EXPECT_FALSE(keys_.admit("other", hash_of(1)));
  EXPECT_TRUE(keys_.admit("1", hash_of(1)));
}

TEST_F(EarnedKeysTest, AChangeTakesAwayWhatWasNotRead) {
  admit(1, 5);
  admit(2, 5);
  EXPECT_EQ(read(1), 5);
  keys_.drop_changed(hash_of(1));
  keys_.drop_changed(hash_of(2));
  EXPECT_TRUE(has(1));
  EXPECT_FALSE(has(2));
  EXPECT_EQ(read(1), -1);
  EXPECT_EQ(keys_.held().copies, 0U);
}

// Otherwise one write would count twice: the library hears of it twice.
TEST_F(EarnedKeysTest, AChangeOfAKeyWithoutACopyChangesNothing) {
  admit(1, 5);
  EXPECT_EQ(read(1), 5);
  for (int i = 0; i < 3; ++i) keys_.drop_changed(hash_of(1));
  EXPECT_TRUE(has(1));
  EXPECT_TRUE(keys_.put(hash_of(1), value(6)));
  keys_.drop_changed(hash_of(1));
  EXPECT_FALSE(has(1)) << "the second copy was not read";
}

TEST_F(EarnedKeysTest, AValueWithoutRoomTakesItsKeyAlong) {
  for (std::uint64_t n = 1; n <= 2; ++n) ASSERT_TRUE(keys_.admit(std::to_string(n), hash_of(n)));
  EXPECT_TRUE(keys_.put(hash_of(1), nothing()));
  EXPECT_FALSE(keys_.put(hash_of(2), nothing()));
  EXPECT_FALSE(has(2));
  EXPECT_EQ(keys_.held().no_room, 1U);
}

TEST_F(EarnedKeysTest, SweepingForgetsWhatHasExpired) {
  const auto ends = [](TimePoint at) {
    auto made = std::make_shared<CachedValueOf<int>>(5);
    made->expires_at = at;
    return made;
  };
  for (std::uint64_t n = 1; n <= 3; ++n) admit(n, 5);
  keys_.put(hash_of(1), ends(kStart + Nanos(1)));
  keys_.put(hash_of(2), ends(kStart));
  keys_.drop(hash_of(3));
  keys_.make_hot("3", hash_of(3));
  keys_.sweep(10, kStart);
  EXPECT_EQ(read(1), 5);
  EXPECT_EQ(read(2), -1);
  EXPECT_TRUE(has(2)) << "its next read fills it again";
  keys_.sweep(10, kStart);
  EXPECT_TRUE(has(1));
  EXPECT_FALSE(has(2));
  EXPECT_TRUE(has(3)) << "it is hot";
}

TEST_F(EarnedKeysTest, AllCopiesGoAtOnce) {
  for (std::uint64_t n = 1; n <= 3; ++n) admit(n, 5);
  keys_.drop_all();
  EXPECT_EQ(keys_.held().copies, 0U);
  EXPECT_EQ(keys_.held().keys, 3U);
  EXPECT_EQ(read(1), -1);
  keys_.clear();
  EXPECT_EQ(keys_.held().keys, 0U);
}

TEST(EarnedKeys, MakeRoomInBytes) {
  const auto text = [](std::size_t size) {
    return std::make_shared<CachedValueOf<std::string>>(std::string(size, 'x'));
  };
  KeptKeys keys({.missing = 10, .bytes = 3 * (text(0)->bytes + 1) + 300});
  for (std::uint64_t n = 1; n <= 3; ++n) {
    ASSERT_TRUE(keys.admit(std::to_string(n), hash_of(n)));
    ASSERT_TRUE(keys.put(hash_of(n), text(100)));
  }
  ASSERT_TRUE(keys.put(hash_of(3), text(101)));
  EXPECT_FALSE(keys.has(hash_of(1))) << "the oldest";
  EXPECT_TRUE(keys.has(hash_of(2)));
  EXPECT_EQ(keys.held().evictions_for_bytes, 1U);
  EXPECT_FALSE(keys.put(hash_of(2), text(1000))) << "more than all";
  EXPECT_TRUE(keys.has(hash_of(3))) << "nothing was evicted for it";
}

}  // namespace
}  // namespace heatsink::client
