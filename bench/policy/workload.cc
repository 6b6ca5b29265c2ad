// SPDX-License-Identifier: Apache-2.0
#include "bench/policy/workload.h"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cmath>
#include <string_view>
#include <utility>

#include "heatsink/base/random.h"
#include "heatsink/base/zipf.h"
#include "heatsink/detect/testing/traces.h"
#include "heatsink/replay/replay.h"

namespace heatsink::bench {
namespace {

using Requests = std::vector<std::uint32_t>;

constexpr std::uint64_t kSeed = 17;
constexpr std::uint64_t kKeys = 200'000;
constexpr double kSkew = 0.8;  // of the background traffic of most shapes

constexpr std::string_view kCurve = ".rankfreq.csv";
constexpr std::size_t kDrawnRequests = 1'000'000;  // from a curve

// Numbers behind those of the background, for keys that a shape adds.
constexpr std::uint32_t kOwnKeys = 1'000'000;

Requests zipf(std::size_t requests, std::uint64_t keys, double exponent) {
  Random random(kSeed);
  const Zipf ranks(keys, exponent);
  Requests out(requests);
  for (std::uint32_t& key : out) key = static_cast<std::uint32_t>(ranks.rank(random));
  return out;
}

// The background; `own`(index, random) may name a key of its own instead.
template <class Own>
Requests over_background(std::size_t requests, Own own) {
  Requests out = zipf(requests, kKeys, kSkew);
  Random random(kSeed + 1);
  for (std::size_t i = 0; i < requests; ++i)
    if (const std::optional<std::uint32_t> key = own(i, random)) out[i] = kOwnKeys + *key;
  return out;
}

// Half of the requests read 300 keys, others after each tenth of the run.
Requests jumping_hot_set(std::size_t requests) {
  constexpr std::uint32_t kHotKeys = 300;
  return over_background(
      requests, [requests](std::size_t i, Random& random) -> std::optional<std::uint32_t> {
        if (random.unit() < 0.5) return std::nullopt;
        const auto rank = static_cast<std::uint32_t>(-std::log(1 - random.unit()) * 80) % kHotKeys;
        return static_cast<std::uint32_t>(10 * i / requests) * kHotKeys + rank;
      });
}

// One key takes 60 % of the requests for a fifth of the run.
Requests flash_crowd(std::size_t requests) {
  return over_background(requests,
                         [requests](std::size_t i, Random& random) -> std::optional<std::uint32_t> {
                           const bool crowd = i > requests * 2 / 5 && i < requests * 3 / 5;
                           if (!crowd || random.unit() >= 0.6) return std::nullopt;
                           return 0;
                         });
}

// Half of the requests read `keys` keys in turn, again and again.
Requests loop(std::size_t requests, std::uint32_t keys) {
  return over_background(
      requests,
      [keys, next = 0U](std::size_t, Random& random) mutable -> std::optional<std::uint32_t> {
        if (random.unit() < 0.5) return std::nullopt;
        return next++ % keys;
      });
}

// Half of the requests read keys that never return.
Requests scan(std::size_t requests) { return loop(requests, UINT32_MAX); }

// The popular keys change slowly: every 50 requests, each rank passes to the next key.
Requests drift(std::size_t requests) {
  constexpr std::uint64_t kActive = 20'000;
  Requests out = zipf(requests, kActive, 1);
  for (std::size_t i = 0; i < requests; ++i)
    out[i] = static_cast<std::uint32_t>(out[i] * 7ULL % kActive + i / 50);
  return out;
}

// At the begin of every 50 000 requests, the same 2000 keys are read about eight times each within
// 20 000 requests.
Requests bursts(std::size_t requests) {
  constexpr std::size_t kPeriod = 50'000;
  constexpr std::size_t kBurst = 20'000;
  constexpr std::uint32_t kBurstKeys = 2'000;
  return over_background(requests,
                         [](std::size_t i, Random& random) -> std::optional<std::uint32_t> {
                           if (i % kPeriod >= kBurst || random.unit() < 0.2) return std::nullopt;
                           return static_cast<std::uint32_t>(random.unit() * kBurstKeys);
                         });
}

// Numbers keys in the order of their first request.
Workload numbered(std::string name, Requests requests) {
  boost::unordered_flat_map<std::uint32_t, std::uint32_t> numbers;
  for (std::uint32_t& key : requests)
    key = numbers.try_emplace(key, static_cast<std::uint32_t>(numbers.size())).first->second;
  return {std::move(name), std::move(requests), numbers.size()};
}

std::optional<Workload> draw_workload(const TraceFile& trace, const std::string& directory,
                                      std::size_t requests_max, std::string& why) {
  const auto traces = detect::testing::Traces::in(directory);
  why = traces.why_absent(trace.file);
  if (!why.empty()) return std::nullopt;
  auto draw = traces.resampled(trace.file, kSeed);
  Requests requests(std::min(requests_max, kDrawnRequests));
  for (std::uint32_t& key : requests) key = static_cast<std::uint32_t>(draw());
  return numbered(trace.name, std::move(requests));
}

}  // namespace

const std::vector<Shape>& shapes() {
  const auto zipf_of = [](double exponent) {
    return [exponent](std::size_t requests) { return zipf(requests, kKeys, exponent); };
  };
  const auto loop_of = [](std::uint32_t keys) {
    return [keys](std::size_t requests) { return loop(requests, keys); };
  };
  static const std::vector<Shape> all{
      {"zipf 0.7", zipf_of(0.7)},
      {"zipf 0.9", zipf_of(0.9)},
      {"zipf 1.1", zipf_of(1.1)},
      {"zipf 1.3", zipf_of(1.3)},
      {"hot set jumps", jumping_hot_set},
      {"flash crowd", flash_crowd},
      {"loop of 2000", loop_of(2000)},
      {"loop of 8000", loop_of(8000)},
      {"scan", scan},
      {"drift", drift},
      {"bursts", bursts},
  };
  return all;
}

const std::vector<TraceFile>& trace_files() {
  static const std::vector<TraceFile> all{
      {"scarab-recs", "scarab-recs.csv.zst"},
      {"orm-busy", "cache2k-orm-busy.csv.zst"},
      {"web07", "cache2k-web07.csv.zst"},
      {"corda", "corda-vaultservice.csv.zst"},
      {"twitter52, drawn", "twitter-cluster52-10m.rankfreq.csv"},
  };
  return all;
}

Workload make_workload(const Shape& shape, std::size_t requests) {
  return numbered(shape.name, shape.make(requests));
}

std::optional<Workload> read_workload(const TraceFile& trace, const std::string& directory,
                                      std::size_t requests_max, std::string& why) {
  if (trace.file.ends_with(kCurve)) return draw_workload(trace, directory, requests_max, why);
  const auto source = replay::ByteSource::open(directory + "/" + trace.file);
  if (!source) {
    why = source.error().message;
    return std::nullopt;
  }
  replay::ReadOptions options;
  options.timing.rate = 1;  // the order is all that counts
  const auto read = replay::read_trace(**source, options, [](std::uint64_t) {});
  if (!read) {
    why = read.error().message;
    return std::nullopt;
  }
  Workload out{trace.name, {}, 0};
  for (const replay::TraceAccess& access : read->accesses) {
    if (out.requests.size() == requests_max) break;
    out.requests.push_back(access.key);
    out.keys = std::max<std::size_t>(out.keys, access.key + 1);
  }
  return out;
}

std::vector<bool> draw_writes(std::size_t requests, double probability) {
  std::vector<bool> writes(requests);
  Random random(kSeed + 2);
  for (std::size_t i = 0; i < requests; ++i) writes[i] = random.unit() < probability;
  return writes;
}

}  // namespace heatsink::bench
