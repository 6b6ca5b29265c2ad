// SPDX-License-Identifier: Apache-2.0
// One keeper changes everything while readers look keys up: for tsan, asan and plain builds.
#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "heatsink/cache/cache.h"

namespace heatsink::cache {
namespace {

constexpr std::uint32_t kReads = Entry::kCopiesMax + 2;  // per key: more than it may have copies
constexpr std::uint64_t kStressSeed = 7;
constexpr std::uint32_t kDatabases = 2;
constexpr int kKeys = 48;
constexpr int kSteps = 25'000;
constexpr int kStepsMax = 100 * kSteps;  // for a machine too busy to run the readers in parallel
constexpr std::uint64_t kServedMin = 1'000;  // with fewer reads served, the test shows nothing
constexpr TimePoint kNow{std::chrono::seconds(100)};

std::string key_of(int i) {
  return "a key too long for the string's own buffer:" + std::to_string(i);
}

// "<key>|<db>|" repeated up to `bytes`: a torn, foreign or freed reply does not match it.
std::string self_describing(std::string_view key, std::uint32_t db, std::size_t bytes) {
  const std::string unit = std::string(key) + "|" + std::to_string(db) + "|";
  std::string value;
  while (value.size() < bytes) value += unit;
  return value;
}

class Keeper {
 public:
  explicit Keeper(Epochs& epochs)
      : table(HotTableLimits{.entries_max = 32, .bytes_max = Bytes{24 * 1024}}, epochs),
        epochs_(epochs) {}

  // The same seed gives the same steps. The readers' progress decides their number.
  void run(std::uint64_t seed, const std::atomic<std::uint64_t>& served) {
    std::mt19937_64 random(seed);
    proof.begin_generation();
    proof.prove(kNow);
    for (int i = 0; i < kSteps || (served.load() < kServedMin && i < kStepsMax); ++i) step(random);
  }

  HotTable table;
  ProofState proof;
  Fences fences{table};

 private:
  void step(std::mt19937_64& random) {
    const std::string key = key_of(static_cast<int>(random() % kKeys));
    const auto db = static_cast<std::uint32_t>(random() % kDatabases);
    const NameHash name = hash_name(key, kStressSeed);
    const KeyHash hash = in_db(name, db);
    switch (random() % 16) {
      case 0:
        table.demote(hash);
        break;
      case 1:
      case 2:
        table.promote(key, db, hash, name, TimePoint{});
        break;
      case 3:
        table.set_order(random() % 2 == 0 ? EvictionOrder::kSieve : EvictionOrder::kClock);
        table.admit(key, db, hash, name, TimePoint{});
        break;
      case 4:
        table.drop_name(key, name);
        break;
      case 5:
        if (random() % 64 == 0) table.drop_all();
        table.retry(kNow + std::chrono::hours(1));
        break;
      case 6:
        if (random() % 64 == 0) proof.begin_generation();
        break;
      default:
        table.insert(hash,
                     copy(key, db, static_cast<std::uint16_t>(random() % kReads), random() % 1500));
    }
    epochs_.collect();
  }

  std::unique_ptr<const Copy> copy(std::string_view key, std::uint32_t db, std::uint16_t command,
                                   std::size_t bytes) {
    auto made = std::make_unique<Copy>();
    made->generation = proof.generation();
    made->fill_sent_at = kNow;
    made->deadline = TimePoint::max();
    made->read = StoredRead(Read{command, {}});
    made->reply = self_describing(key, db * kReads + command, bytes);
    return made;
  }

  Epochs& epochs_;
};

struct Seen {
  std::atomic<std::uint64_t> served{0};
  std::atomic<std::uint64_t> wrong{0};
};

// Looks up random keys, a few dozen per turn, until the test ends; sleeps every eighth turn.
void look(const Keeper& keeper, Epochs::Reader& reader, std::uint64_t seed,
          const std::atomic<bool>& stop, Seen& seen) {
  std::mt19937_64 random(seed);
  for (unsigned turn = 0; !stop.load(); ++turn) {
    if (turn % 8 == 0) {
      reader.offline();
      std::this_thread::yield();
    }
    reader.quiescent();
    for (int i = 0; i < 32; ++i) {
      const std::string key = key_of(static_cast<int>(random() % kKeys));
      const auto db = static_cast<std::uint32_t>(random() % kDatabases);
      const auto command = static_cast<std::uint16_t>(random() % kReads);
      const NameHash name = hash_name(key, kStressSeed);
      const Entry* entry = keeper.table.find(in_db(name, db), key, db);
      if (entry == nullptr) continue;
      const ServeDecision decision =
          judge(*entry, Read{command, {}}, keeper.proof, keeper.fences, kNow, TimePoint{});
      if (decision.copy == nullptr) continue;
      entry->touch();
      const std::string& reply = decision.copy->reply;
      ++seen.served;
      if (reply != self_describing(key, db * kReads + command, reply.size())) ++seen.wrong;
    }
  }
  reader.offline();
}

TEST(HotTableStress, WhatIsServedIsWholeAndTheKeysOwn) {
  Epochs epochs;
  Keeper keeper(epochs);
  std::atomic<bool> stop{false};
  Seen seen;
  std::vector<std::thread> readers;
  for (std::uint64_t seed = 0; seed < 3; ++seed) {
    Epochs::Reader& reader = epochs.add_reader();
    readers.emplace_back([&, seed] { look(keeper, reader, seed, stop, seen); });
  }
  keeper.run(1, seen.served);
  stop = true;
  for (std::thread& reader : readers) reader.join();

  EXPECT_EQ(seen.wrong.load(), 0U);
  EXPECT_GE(seen.served.load(), kServedMin);
  epochs.collect();
  EXPECT_EQ(epochs.retired(), 0U);
  EXPECT_LE(keeper.table.bytes().count, 24U * 1024U);
  keeper.table.drop_all();
  EXPECT_EQ(keeper.table.bytes().count, 0U);
}

// Keys that stay are found at every moment, while thousands of others come and go beside them and
// the index grows. The writer notes how many stay before a reader may rely on it.
TEST(HotTableStress, WhatStaysIsAlwaysFound) {
  constexpr int kOthers = 3000;
  Epochs epochs;
  HotTable table({.entries_max = 4000}, epochs);
  std::atomic<int> staying{0};
  std::atomic<std::uint64_t> missed{0};
  std::atomic<std::uint64_t> found{0};
  std::atomic<bool> stop{false};
  const auto hash_of = [](int i) { return in_db(hash_name(key_of(i), kStressSeed), 0); };
  std::vector<std::thread> readers;
  for (std::uint64_t seed = 0; seed < 2; ++seed) {
    Epochs::Reader& reader = epochs.add_reader();
    readers.emplace_back([&, seed] {
      std::mt19937_64 random(seed);
      while (!stop.load()) {
        reader.quiescent();
        const int stay = staying.load();
        for (int i = 0; i < 16 && stay > 0; ++i) {
          const int key = -1 - static_cast<int>(random() % static_cast<std::uint64_t>(stay));
          ++(table.find(hash_of(key), key_of(key), 0) != nullptr ? found : missed);
        }
      }
      reader.offline();
    });
  }
  std::mt19937_64 random(5);
  for (int i = 0; i < 30'000 || (found.load() < kServedMin && i < kStepsMax); ++i) {
    const int other = static_cast<int>(random() % kOthers);
    if (random() % 3 == 0) {
      table.demote(hash_of(other));
    } else {
      table.promote(key_of(other), 0, hash_of(other), hash_name(key_of(other), kStressSeed),
                    TimePoint{});
    }
    if (i % 50 == 0 && i < 15'000) {
      const int key = -1 - staying.load();
      ASSERT_TRUE(table.promote(key_of(key), 0, hash_of(key), hash_name(key_of(key), kStressSeed),
                                TimePoint{}));
      ++staying;
    }
    epochs.collect();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(missed.load(), 0U);
  EXPECT_GE(found.load(), kServedMin);
}

}  // namespace
}  // namespace heatsink::cache
