// SPDX-License-Identifier: Apache-2.0
// The cost of recording one access: Zipf 0.99 over a million keys, the hash given, one shard per
// thread.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/detect/recorder.h"

namespace {

using heatsink::KeyHash;
using heatsink::Nanos;
using heatsink::TimePoint;
using heatsink::detect::Access;
using heatsink::detect::Recorder;
using heatsink::detect::RecorderOptions;

constexpr std::size_t kKeys = 1'000'000;
constexpr std::size_t kAccesses = 2'000'000;

// An access as a parser leaves it: the name lies in a buffer that is in the cache anyway, so the
// stream is laid out in order and the memory of a million names is not what is measured.
struct Item {
  KeyHash hash;
  char name[24];
  std::string_view key() const { return {name, sizeof(name)}; }
};

// P(rank r) ~ 1 / r^0.99, drawn by inversion of the cumulative sum.
std::vector<Item> make_stream(unsigned seed) {
  std::vector<double> cumulative(kKeys);
  double sum = 0;
  for (std::size_t rank = 0; rank < kKeys; ++rank) {
    cumulative[rank] = sum += 1 / std::pow(static_cast<double>(rank + 1), 0.99);
  }
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(0, sum);
  std::vector<Item> stream(kAccesses);
  for (Item& item : stream) {
    const auto place = std::lower_bound(cumulative.begin(), cumulative.end(), uniform(random));
    const std::string digits = std::to_string(place - cumulative.begin());
    const std::string name = "user:" + std::string(11 - digits.size(), '0') + digits + ":profile";
    std::memcpy(item.name, name.data(), sizeof(item.name));
    item.hash = in_db(heatsink::hash_name(item.key(), 1), 0);
  }
  return stream;
}

const std::vector<Item>& stream_of(int thread) {
  static const std::vector<Item> streams[] = {make_stream(1), make_stream(2)};
  return streams[thread & 1];
}

// Time as a worker has it: one look at the clock per batch of 16; here 1 M accesses per second.
void record_zipf(benchmark::State& state) {
  const std::vector<Item>& stream = stream_of(state.thread_index());
  Recorder recorder(RecorderOptions{});
  std::size_t i = 0;
  TimePoint now(std::chrono::seconds(100));
  for ([[maybe_unused]] const auto iteration : state) {
    benchmark::DoNotOptimize(recorder.record(Access{stream[i].hash, stream[i].key()}, now));
    if (++i == kAccesses) i = 0;
    if (i % 16 == 0) now += std::chrono::microseconds(16);
  }
  state.SetItemsProcessed(state.iterations());
  state.counters["keys"] = static_cast<double>(recorder.keys_max());
  state.counters["bytes"] = static_cast<double>(recorder.memory_bytes());
}
BENCHMARK(record_zipf)->Threads(1)->Threads(2)->UseRealTime()->MinTime(2)->MinWarmUpTime(0.5);

// One tick of the keeper: the thousand busiest keys of a full table.
void summarize_1000(benchmark::State& state) {
  const std::vector<Item>& stream = stream_of(0);
  Recorder recorder(RecorderOptions{});
  TimePoint now(std::chrono::seconds(100));
  for (std::size_t i = 0; i < kAccesses; ++i, now += Nanos(1000)) {
    recorder.record(Access{stream[i].hash, stream[i].key()}, now);
  }
  for ([[maybe_unused]] const auto iteration : state)
    benchmark::DoNotOptimize(recorder.summarize(now, 1000));
}
BENCHMARK(summarize_1000)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
