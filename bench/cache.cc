// SPDX-License-Identifier: Apache-2.0
// Claim: a look-up in the hot table with the whole key rule costs tens of nanoseconds, and a second
// thread does not slow the first one down, as a lock around a map does.
#include <benchmark/benchmark.h>

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
constexpr std::size_t kHotKeys = 1000;
constexpr std::size_t kValueBytes = 64;
constexpr TimePoint kNow{std::chrono::seconds(100)};

std::string key_of(std::size_t i) { return "user:session:" + std::to_string(i); }

struct Request {
  std::string key;
  NameHash name;  // computed by the proxy once per request, for detection and fences too
};

// The same few thousand requests for every way, in random order: Zipf would only flatter the
// caches.
std::vector<Request> requests(std::size_t first, std::size_t count) {
  std::mt19937_64 random(7);
  std::vector<Request> made;
  for (std::size_t i = 0; i < 4096; ++i) {
    std::string key = key_of(first + random() % count);
    made.push_back({key, hash_name(key, kSeed)});
  }
  return made;
}
const std::vector<Request>& hits() {
  static const std::vector<Request> made = requests(0, kHotKeys);
  return made;
}
const std::vector<Request>& misses() {
  static const std::vector<Request> made = requests(1'000'000, 100'000);
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
  Heatsink() {
    for (std::size_t i = 0; i < kHotKeys; ++i) {
      const std::string key = key_of(i);
      const NameHash name = hash_name(key, kSeed);
      table.promote(key, 0, in_db(name, 0), name);
      table.insert(in_db(name, 0), copy_of(kValueBytes));
    }
    table.publish();
    for (int i = 0; i < 8; ++i) readers.push_back(&epochs.add_reader());
  }
  static Heatsink& instance() {
    static Heatsink made;
    return made;
  }

  std::size_t read(const Request& request) const {
    const Entry* entry = table.find(in_db(request.name, 0), request.key, 0);
    if (entry == nullptr) return 0;
    const ServeDecision decision = judge(*entry, Read{}, proof, fences, kNow, TimePoint{});
    return decision.copy == nullptr ? 0 : decision.copy->reply.size();
  }

  Epochs epochs;
  HotTable table{HotTableLimits{}, epochs};
  ProofState proof;
  Fences fences;
  std::vector<Epochs::Reader*> readers;
};

void heatsink_reads(benchmark::State& state, const std::vector<Request>& stream) {
  const Heatsink& heatsink = Heatsink::instance();
  Epochs::Reader& reader = *heatsink.readers[static_cast<std::size_t>(state.thread_index())];
  std::size_t i = 0;
  for ([[maybe_unused]] const auto iteration : state) {
    if (i % 64 == 0) reader.quiescent();  // a turn of the loop: some tens of requests
    benchmark::DoNotOptimize(heatsink.read(stream[i++ % stream.size()]));
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

void heatsink_hit(benchmark::State& state) { heatsink_reads(state, hits()); }
void heatsink_miss(benchmark::State& state) { heatsink_reads(state, misses()); }
void mutex_hit(benchmark::State& state) {
  locked_map_reads<std::mutex, std::lock_guard<std::mutex>>(state, hits());
}
void mutex_miss(benchmark::State& state) {
  locked_map_reads<std::mutex, std::lock_guard<std::mutex>>(state, misses());
}
void shared_mutex_hit(benchmark::State& state) {
  locked_map_reads<std::shared_mutex, std::shared_lock<std::shared_mutex>>(state, hits());
}
void shared_mutex_miss(benchmark::State& state) {
  locked_map_reads<std::shared_mutex, std::shared_lock<std::shared_mutex>>(state, misses());
}

BENCHMARK(heatsink_hit)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(mutex_hit)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(shared_mutex_hit)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(heatsink_miss)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(mutex_miss)->ThreadRange(1, 2)->UseRealTime();
BENCHMARK(shared_mutex_miss)->ThreadRange(1, 2)->UseRealTime();

// The keeper's dearest steps, with as many keys as can be hot.
class Keeper {
 public:
  static constexpr std::size_t kKeys = 4096;

  // Full of copies of 100 bytes at 1 request/s each.
  Keeper() {
    for (std::size_t i = 0; i < kKeys; ++i) promote(i, 1, 100);
    table.demote(hash_of(0));
    promote(kKeys, 1e9, 0);
    table.publish();
  }

  static KeyHash hash_of(std::size_t i) { return in_db(hash_name(key_of(i), kSeed), 0); }
  void promote(std::size_t i, double rate, std::size_t value_bytes) {
    table.promote(key_of(i), 0, hash_of(i), hash_name(key_of(i), kSeed));
    table.set_rate(hash_of(i), rate);
    table.insert(hash_of(i), copy_of(value_bytes));
  }

  Epochs epochs;
  HotTable table{{.entries_max = kKeys, .bytes_max = kibibytes(1024)}, epochs};
};

// A copy of a quarter of the cache pushes out as many small ones as that takes.
void evict_many(benchmark::State& state) {
  for ([[maybe_unused]] const auto iteration : state) {
    state.PauseTiming();
    auto keeper = std::make_unique<Keeper>();
    auto copy = copy_of(static_cast<std::size_t>(256) * 1024);
    const std::size_t before = keeper->table.copies();
    state.ResumeTiming();
    benchmark::DoNotOptimize(keeper->table.insert(Keeper::hash_of(Keeper::kKeys), std::move(copy)));
    state.PauseTiming();
    state.counters["evicted"] = static_cast<double>(before - keeper->table.copies());
    keeper.reset();
    state.ResumeTiming();
  }
}
BENCHMARK(evict_many)->Iterations(50)->Unit(benchmark::kMicrosecond);

void publish_4096_keys(benchmark::State& state) {
  Keeper keeper;
  for ([[maybe_unused]] const auto iteration : state) {
    keeper.table.publish();
    keeper.epochs.collect();
  }
}
BENCHMARK(publish_4096_keys)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace heatsink::cache

BENCHMARK_MAIN();
