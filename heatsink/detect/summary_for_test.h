// SPDX-License-Identifier: Apache-2.0
// For tests: summaries made from rates instead of accesses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "heatsink/detect/selector.h"
#include "heatsink/detect/summary.h"

namespace heatsink::detect {

struct Traffic {
  std::string key;
  double reads_rate = 0;
  double writes_rate = 0;
  double unproven_rate = 0;  // widens the bounds upwards
};

inline KeyCount key_named(const std::string& name) {
  KeyCount count;
  count.hash = in_db(hash_name(name, 1), 0);
  count.key = name;
  return count;
}

inline void list_by_high(Summary& summary) {
  std::sort(summary.keys.begin(), summary.keys.end(),
            [](const KeyCount& a, const KeyCount& b) { return a.high > b.high; });
}

// Requests in a window of 10 s.
inline Summary window_of(Nanos at, const std::vector<Traffic>& keys) {
  Summary summary;
  summary.at = TimePoint(at);
  summary.window = summary.covered = std::chrono::seconds(10);
  for (const Traffic& traffic : keys) {
    KeyCount count = key_named(traffic.key);
    count.reads = static_cast<std::uint64_t>(traffic.reads_rate * 10);
    count.writes = static_cast<std::uint64_t>(traffic.writes_rate * 10);
    count.low = count.reads + count.writes;
    count.high = count.low + static_cast<std::uint64_t>(traffic.unproven_rate * 10);
    summary.requests += count.low;
    summary.keys.push_back(count);
  }
  list_by_high(summary);
  return summary;
}

// A key with a count in the measure's unit, and as many reads.
struct Measured {
  std::string key;
  std::uint64_t count = 0;
};

inline Summary window_of(Nanos at, const Measure& measure, const std::vector<Measured>& keys) {
  Summary summary;
  summary.at = TimePoint(at);
  summary.window = summary.covered = measure.window;
  summary.dimension = measure.dimension;
  for (const Measured& measured : keys) {
    KeyCount count = key_named(measured.key);
    count.low = count.high = measured.count;
    const bool is_written = measure.dimension == Dimension::kWrites;
    (is_written ? count.writes : count.reads) = measured.count;
    (is_written ? summary.writes : summary.reads) += measured.count;
    summary.requests += measured.count;
    summary.bytes += measure.dimension == Dimension::kBytes ? measured.count : 0;
    summary.keys.push_back(count);
  }
  list_by_high(summary);
  return summary;
}

// "+a" promoted, "-a" demoted; notices are left out.
inline std::vector<std::string> told(const std::vector<Change>& changes) {
  std::vector<std::string> out;
  for (const Change& change : changes) {
    if (change.kind == Change::Kind::kNotice) continue;
    out.push_back((change.kind == Change::Kind::kPromote ? "+" : "-") + change.verdict.count.key);
  }
  return out;
}

// "a cold > warm": all of them.
inline std::vector<std::string> noticed(const std::vector<Change>& changes) {
  std::vector<std::string> out;
  for (const Change& change : changes) {
    out.push_back(change.verdict.count.key + " " + to_string(change.before) + " > " +
                  to_string(change.verdict.temperature));
  }
  return out;
}

inline const Verdict& verdict_of(const Selector& selector, const std::string& key) {
  static const Verdict kCold;
  for (const Verdict& verdict : selector.verdicts()) {
    if (verdict.count.key == key) return verdict;
  }
  return kCold;
}

inline Temperature temperature_of(const Selector& selector, const std::string& key) {
  return verdict_of(selector, key).temperature;
}

}  // namespace heatsink::detect
