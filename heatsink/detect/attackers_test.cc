// SPDX-License-Identifier: Apache-2.0
// Clients choose the names, the number and the size of their requests; none of it may blind the
// recorder, make it grow or make it slow. (Clients that make everything hot:
// selector_attack_test.cc.)
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cstdlib>
#include <new>
#include <random>
#include <string>
#include <vector>

#include "heatsink/detect/access_for_test.h"
#include "heatsink/detect/recorder.h"
#include "heatsink/detect/testing/window_model.h"

namespace {
std::size_t allocations = 0;  // the tests of this program run in one thread
}

// Not inlined: g++ 12 would see malloc() on one side only and call the pair mismatched.
[[gnu::noinline]] void* operator new(std::size_t size) {
  ++allocations;
  if (void* memory = std::malloc(size)) return memory;
  throw std::bad_alloc();
}
// std::stable_sort takes its buffer from this one, and gives it back to those below.
[[gnu::noinline]] void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  ++allocations;
  return std::malloc(size);
}
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }
[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

namespace heatsink::detect {
namespace {

using std::chrono::hours;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr TimePoint kFirstRequest{hours(1)};

// ---- names that collide

constexpr std::uint64_t kKnownSeed = 1, kSecretSeed = 0x5EC2E7;

// Names whose hashes, with the seed that the attacker knows, agree in ten bits from `bit` on.
std::vector<std::string> colliding_names(std::size_t count, int bit) {
  std::vector<std::string> names;
  for (std::uint64_t i = 0; names.size() < count; ++i) {
    std::string name = "aimed:" + std::to_string(i);
    if (((hash_name(name, kKnownSeed).value >> bit) & 1023) == 0) names.push_back(std::move(name));
  }
  return names;
}

// The fullest of 1024 places that ten bits of the hash name.
std::size_t fullest(const std::vector<std::string>& names, std::uint64_t seed, int bit) {
  std::array<std::size_t, 1024> places{};
  for (const std::string& name : names) ++places[(hash_name(name, seed).value >> bit) & 1023];
  return *std::max_element(places.begin(), places.end());
}

std::size_t tracked(const std::vector<std::string>& names, std::uint64_t seed) {
  Recorder recorder({.seed = seed});
  for (int round = 0; round < 5; ++round) {
    for (const std::string& name : names) {
      recorder.record({in_db(hash_name(name, seed), 0), name}, kFirstRequest + milliseconds(round));
    }
  }
  recorder.drain(kFirstRequest + seconds(1));
  return recorder.summarize(kFirstRequest + seconds(1), 100'000, 5).keys.size();
}

TEST(Attackers, CannotAimAtABucketWithoutTheSeed) {
  constexpr std::size_t kNames = 1000;
  std::size_t least_when_known = kNames;
  for (const int bit : {0, 22, 54}) {
    const std::vector<std::string> names = colliding_names(kNames, bit);
    EXPECT_EQ(fullest(names, kKnownSeed, bit), kNames);
    EXPECT_LE(fullest(names, kSecretSeed, bit), 10u);  // about one in each place
    EXPECT_EQ(tracked(names, kSecretSeed), kNames);
    least_when_known = std::min(least_when_known, tracked(names, kKnownSeed));
  }
  EXPECT_LT(least_when_known, kNames / 10);  // with the seed it works: the names are well aimed
}

// ---- floods

TEST(Attackers, AFloodOfTenMillionDistinctKeysHidesNothing) {
  Recorder recorder(RecorderOptions{});
  const std::size_t memory_bytes = recorder.memory_bytes();
  std::array<std::string, 20> hot;
  std::array<Access, 20> hot_accesses;
  for (std::size_t i = 0; i < hot.size(); ++i) {
    hot[i] = "hot:" + std::to_string(i);
    hot_accesses[i] = {in_db(hash_name(hot[i], 7), 0), hot[i]};
  }
  TimePoint now = kFirstRequest;
  const std::size_t allocations_before = allocations;
  for (std::uint64_t i = 0; i < 10'000'000; ++i, now += Nanos(2500)) {  // 400 000/s for 25 s
    const auto name = std::bit_cast<std::array<char, 8>>(i);
    const std::string_view key(name.data(), name.size());
    recorder.record({in_db(hash_name(key, 7), 0), key}, now);
    if (i % 200 == 0) recorder.record(hot_accesses[i / 200 % 20], now);
  }
  EXPECT_EQ(allocations, allocations_before);
  recorder.drain(now);
  const Summary summary = recorder.summarize(now, 20);
  EXPECT_EQ(recorder.memory_bytes(), memory_bytes);
  EXPECT_TRUE(summary.covers_window);
  for (const Access& access : hot_accesses) {
    const KeyCount* key = find(summary, access.hash);
    ASSERT_NE(key, nullptr) << access.key;
    EXPECT_EQ(key->low, key->high);  // exact
    EXPECT_NEAR(static_cast<double>(key->low) / summary.seconds(), 100, 0.2);
  }
}

// ---- huge names

TEST(Attackers, ANameOfHalfAGigabyteCostsNoMoreThanItsBeginning) {
  constexpr std::size_t kBytes = 512UL << 20;
  // Untouched pages take no memory: if the whole name were read, this would be slow.
  void* const pages =
      mmap(nullptr, kBytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(pages, MAP_FAILED);
  const Access access{KeyHash{12345}, {static_cast<const char*>(pages), kBytes}};
  Recorder recorder(RecorderOptions{});
  const std::size_t allocations_before = allocations;
  for (int i = 0; i < 1000; ++i) recorder.record(access, kFirstRequest);
  recorder.drain(kFirstRequest);
  EXPECT_EQ(allocations, allocations_before);
  std::vector<unsigned char> resident(kBytes / 4096);
  ASSERT_EQ(mincore(pages, kBytes, resident.data()), 0);
  EXPECT_LE(std::count_if(resident.begin(), resident.end(), [](auto page) { return page & 1; }),
            64);
  const Summary summary = recorder.summarize(kFirstRequest, 10);
  ASSERT_EQ(summary.keys.size(), 1u);
  EXPECT_EQ(summary.keys[0].low, 1000u);
  EXPECT_EQ(summary.keys[0].key.size(), kKeyBytesMax);
  EXPECT_TRUE(summary.keys[0].key_truncated);
  munmap(pages, kBytes);
}

// ---- the clock

// Whatever time does, the counts are those of a clock that never steps back.
TEST(Attackers, TimeThatJumpsBreaksNoBound) {
  std::mt19937_64 random(1);
  Recorder recorder({.memory_bytes = kRecorderBytesMin});
  WindowModel model(seconds(10), 10);
  TimePoint now = kFirstRequest, latest = kFirstRequest;
  for (int i = 0; i < 30'000; ++i) {
    const std::string name = std::to_string(random() % (random() % 1000 + 1));
    const Access access{in_db(hash_name(name, 7), 0), name};
    now += milliseconds(random() % 10);
    if (random() % 500 == 0) now += hours(random() % 1000);
    if (random() % 500 == 0) now -= hours(random() % 1000);
    latest = std::max(latest, now);
    recorder.record(access, now);
    model.record(access, latest);
    if (random() % 100 != 0) continue;
    recorder.drain(now);
    const Summary summary = recorder.summarize(now, 10'000);
    model.advance(latest);
    ASSERT_EQ(summary.requests, model.total().accesses());
    ASSERT_GE(summary.covered, Nanos{});
    ASSERT_LE(summary.covered, summary.window);
    for (const KeyCount& key : summary.keys) {
      ASSERT_LE(key.low, model.of(key.hash).accesses());
      ASSERT_GE(key.high, model.of(key.hash).accesses());
    }
  }
}

}  // namespace
}  // namespace heatsink::detect
