// SPDX-License-Identifier: Apache-2.0
#include "bench/detect_wire.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "heatsink/base/zipf.h"
#include "heatsink/detect/merge.h"
#include "heatsink/detect/recorder.h"
#include "heatsink/detect/wire.h"

namespace heatsink::bench {
namespace {

using detect::Summary;

constexpr std::size_t kKeys = 1000;
constexpr std::uint64_t kWireSeed = 7;

// The thousand busiest keys of one node: Zipf 0.99, names of 22 bytes, values of 200.
Summary summary_of_node(std::uint64_t node) {
  detect::Recorder recorder({.seed = kWireSeed});
  const Zipf zipf(1'000'000, 0.99);
  std::mt19937_64 random(node);
  TimePoint now(std::chrono::seconds(100));
  for (int i = 0; i < 500'000; ++i, now += std::chrono::microseconds(10)) {
    const std::string key = fmt::format("user:{:09}:profile", zipf.rank(random));
    detect::Access access{in_db(hash_name(key, kWireSeed), 0), key};
    access.bytes = 200;
    recorder.record(access, now);
  }
  recorder.drain(now);
  return recorder.summarize(now, kKeys);
}

// The median of 51 runs, in us.
template <class Work>
double median_us(const Work& work) {
  std::vector<double> times;
  for (int i = 0; i < 51; ++i) {
    const TimePoint began = BootClock::now();
    work();
    times.push_back(std::chrono::duration<double, std::micro>(BootClock::now() - began).count());
  }
  std::nth_element(times.begin(), times.begin() + 25, times.end());
  return times[25];
}

}  // namespace

void measure_wire(Figures& figures) {
  std::vector<Summary> nodes;
  for (std::uint64_t node = 0; node < 16; ++node) nodes.push_back(summary_of_node(node));
  const std::string bytes = detect::encode(nodes[0]);
  std::size_t used = 0;  // so that nothing is optimized away
  const auto us = [](double n) { return fmt::format("{:.0f}", n); };
  figures.table("Handing on: a summary of 1000 keys with names of 22 bytes",
                {"what", "bytes/key", "us"});
  figures.row({"encode", fmt::format("{:.1f}", static_cast<double>(bytes.size()) / kKeys),
               us(median_us([&] { used += detect::encode(nodes[0]).size(); }))});
  figures.row({"decode", "", us(median_us([&] {
                 used += detect::decode(bytes, kWireSeed, TimePoint{}).value().keys.size();
               }))});
  figures.row({"merge of 2", "", us(median_us([&] {
                 used += detect::merge(std::span(nodes).first(2), kKeys).keys.size();
               }))});
  figures.row(
      {"merge of 16", "", us(median_us([&] { used += detect::merge(nodes, kKeys).keys.size(); }))});
  if (used == 0) figures.note("nothing was handed on");
}

}  // namespace heatsink::bench
