// SPDX-License-Identifier: Apache-2.0
// Claim: a look-up in the hot table with the whole key rule costs tens of nanoseconds, and a second
// thread does not slow the first one down, as a lock around a map does.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "heatsink/cache/cache.h"

namespace heatsink::cache {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::size_t kHotKeys = 1000;  // of the maps under a lock
constexpr std::size_t kValueBytes = 64;
constexpr TimePoint kNow{std::chrono::seconds(100)};

std::string key_of(std::size_t i) { return "user:session:" + std::to_string(i); }

struct Request {
  std::string key;
  NameHash name;  // computed by the proxy once per request, for detection and fences too
};

// The same requests for every way, in random order: Zipf would only flatter the caches. As many as
// there are keys, so that the large tables are read all over.
std::vector<Request> requests(std::size_t first, std::size_t keys, std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<Request> made;
  for (std::size_t i = 0; i < count; ++i) {
    std::string key = key_of(first + random() % keys);
    made.push_back({key, hash_name(key, kSeed)});
  }
  return made;
}
const std::vector<Request>& hits(std::size_t hot_keys) {
  static std::unordered_map<std::size_t, std::vector<Request>> made;
  std::vector<Request>& stream = made[hot_keys];
  if (stream.empty()) stream = requests(0, hot_keys, std::max<std::size_t>(hot_keys, 4096));
  return stream;
}
const std::vector<Request>& misses() {
  static const std::vector<Request> made = requests(1'000'000, 100'000, 4096);
  return made;
}

std::unique_ptr<Copy> copy_of(std::size_t value_bytes) {
  auto copy = std::make_unique<Copy>();
  copy->fill_sent_at = kNow;
  copy->deadline = TimePoint::max();
  copy->reply = std::string(value_bytes, 'v');
  return copy;
}

struct Heatsink {
  explicit Heatsink(std::size_t keys)
      : table({.entries_max = keys, .bytes_max = mebibytes(256)}, epochs) {
    for (std::size_t i = 0; i < keys; ++i) {
      const std::string key = key_of(i);
      const NameHash name = hash_name(key, kSeed);
      table.promote(key, 0, in_db(name, 0), name, TimePoint{});
      table.insert(in_db(name, 0), copy_of(kValueBytes));
    }
    for (int i = 0; i < 8; ++i) readers.push_back(&epochs.add_reader());
  }
  // Called by one thread, before the others run.
  static Heatsink& of(std::size_t keys) {
    static std::unordered_map<std::size_t, std::unique_ptr<Heatsink>> made;
    std::unique_ptr<Heatsink>& heatsink = made[keys];
    if (!heatsink) heatsink = std::make_unique<Heatsink>(keys);
    return *heatsink;
  }

  std::size_t read(const Request& request) const {
    const Entry* entry = table.find(in_db(request.name, 0), request.key, 0);
    if (entry == nullptr) return 0;
    const ServeDecision decision = judge(*entry, Read{}, proof, fences, kNow, TimePoint{});
    if (decision.copy == nullptr) return 0;
    entry->touch();
    return decision.copy->reply.size();
  }

  Epochs epochs;
  HotTable table;
  ProofState proof;
  Fences fences{table};
  std::vector<Epochs::Reader*> readers;
};

void heatsink_reads(benchmark::State& state, const Heatsink& heatsink,
                    const std::vector<Request>& stream) {
  Epochs::Reader& reader = *heatsink.readers[static_cast<std::size_t>(state.thread_index())];
  std::size_t i = 0;
  for ([[maybe_unused]] const auto iteration : state) {
    if (i % 64 == 0) reader.quiescent();  // a turn of the loop: some tens of requests
    benchmark::DoNotOptimize(heatsink.read(stream[i]));
    if (++i == stream.size()) i = 0;
  }
  reader.offline();
}

// What one would write first: a map under a lock, the value copied out or its length taken under
// it.
template <class Mutex, class Lock>
void locked_map_reads(benchmark::State& state, const std::vector<Request>& stream) {
  static Mutex mutex;
  static const std::unordered_map<std::string, std::string> map = [] {
    std::unordered_map<std::string, std::string> made;
    for (std::size_t i = 0; i < kHotKeys; ++i) made[key_of(i)] = std::string(kValueBytes, 'v');
    return made;
  }();
  std::size_t i = 0;
  for ([[maybe_unused]] const auto iteration : state) {
    const Lock lock(mutex);
    const auto found = map.find(stream[i++ % stream.size()].key);
    benchmark::DoNotOptimize(found == map.end() ? 0 : found->second.size());
  }
}

// Made before main(), so before the threads.
const std::array<Heatsink*, 3> kTables{&Heatsink::of(1000), &Heatsink::of(4096),
                                       &Heatsink::of(65536)};
const std::array<const std::vector<Request>*, 3> kHits{&hits(1000), &hits(4096), &hits(65536)};
std::size_t place_of(std::int64_t keys) { return keys == 1000 ? 0 : keys == 4096 ? 1 : 2; }

void heatsink_hit(benchmark::State& state) {
  const std::size_t place = place_of(state.range(0));
  heatsink_reads(state, *kTables[place], *kHits[place]);
}
void heatsink_miss(benchmark::State& state) {
  heatsink_reads(state, *kTables[place_of(state.range(0))], misses());
}
void mutex_hit(benchmark::State& state) {
  locked_map_reads<std::mutex, std::lock_guard<std::mutex>>(state, hits(kHotKeys));
}
void mutex_miss(benchmark::State& state) {
  locked_map_reads<std::mutex, std::lock_guard<std::mutex>>(state, misses());
}
void shared_mutex_hit(benchmark::State& state) {
  locked_map_reads<std::shared_mutex, std::shared_lock<std::shared_mutex>>(state, hits(kHotKeys));
}
void shared_mutex_miss(benchmark::State& state) {
  locked_map_reads<std::shared_mutex, std::shared_lock<std::shared_mutex>>(state, misses());
}

BENCHMARK(heatsink_hit)->Arg(1000)->Arg(4096)->Arg(65536)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(mutex_hit)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(shared_mutex_hit)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(heatsink_miss)->Arg(1000)->Arg(4096)->Arg(65536)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(mutex_miss)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(shared_mutex_miss)->ThreadRange(1, 2)->UseRealTime();

// The keeper's dearest steps.
class Keeper {
 public:
  // Full of copies of 100 bytes, apart from one key that has none.
  Keeper(std::size_t keys, Bytes bytes_max)
      : table({.entries_max = keys, .bytes_max = bytes_max}, epochs) {
    for (next = 0; next + 1 < keys;) admit(100);
    admit(0);
  }

  static KeyHash hash_of(std::size_t i) { return in_db(hash_name(key_of(i), kSeed), 0); }
  void admit(std::size_t value_bytes) {
    const std::string key = key_of(next);
    const KeyHash hash = hash_of(next++);
    table.admit(key, 0, hash, hash_name(key, kSeed), TimePoint{});
    if (value_bytes > 0) table.insert(hash, copy_of(value_bytes));
  }

  Epochs epochs;
  HotTable table;
  std::size_t next = 0;
};

// A copy of a quarter of the cache pushes out as many small ones as that takes.
void evict_many(benchmark::State& state) {
  for ([[maybe_unused]] const auto iteration : state) {
    state.PauseTiming();
    auto keeper = std::make_unique<Keeper>(4096, kibibytes(1024));
    auto copy = copy_of(static_cast<std::size_t>(256) * 1024);
    const std::size_t before = keeper->table.copies();
    state.ResumeTiming();
    benchmark::DoNotOptimize(
        keeper->table.insert(Keeper::hash_of(keeper->next - 1), std::move(copy)));
    state.PauseTiming();
    state.counters["evicted"] = static_cast<double>(before - keeper->table.copies());
    keeper.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(evict_many)->Iterations(50)->Unit(benchmark::kMicrosecond);

// A key comes into a full table with its copy, and another one leaves. `read` in a hundred of the
// others had a hit since the last look at them.
void admit_one(benchmark::State& state) {
  const auto keys = static_cast<std::size_t>(state.range(0));
  const auto read = static_cast<std::uint64_t>(state.range(1));
  Keeper keeper(keys, mebibytes(256));
  keeper.table.set_order(state.range(2) == 0 ? EvictionOrder::kSieve : EvictionOrder::kClock);
  std::mt19937_64 random(7);
  for ([[maybe_unused]] const auto iteration : state) {
    keeper.admit(100);
    keeper.epochs.collect();
    if (keeper.next % 1024 != 0) continue;
    state.PauseTiming();
    keeper.table.for_each_cached([&](const Entry& entry) {
      if (random() % 100 < read) entry.touch();
    });
    state.ResumeTiming();
  }
}
BENCHMARK(admit_one)
    ->ArgNames({"keys", "read", "clock"})
    ->ArgsProduct({{4096, 65536}, {0, 90}, {0, 1}});

}  // namespace
}  // namespace heatsink::cache

BENCHMARK_MAIN();
