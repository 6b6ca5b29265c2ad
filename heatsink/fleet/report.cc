// SPDX-License-Identifier: Apache-2.0
#include "heatsink/fleet/report.h"

#include <algorithm>
#include <bit>
#include <string>
#include <unordered_map>
#include <utility>

#include "heatsink/fleet/bounds.h"

namespace heatsink::fleet {
namespace {

using detect::KeyCount;
using detect::Summary;

// Room for the name of each key in kReportBytesMax.
constexpr std::size_t kNameSumMax = kReportBytesMax / 2 / detect::kMeasuresMax;

KeyCount counts_only(const KeyCount& key) {
  KeyCount out;
  out.hash = key.hash;
  out.key = key.key;
  out.db = key.db;
  out.low = key.low;
  out.high = key.high;
  out.reads = key.reads;
  out.writes = key.writes;
  return out;
}

class WindowReport {
 public:
  WindowReport(const Summary& window, const Summary* listed) : window_(window) {
    out_.window = window.window;
    out_.dimension = window.dimension;
    out_.covered = window.covered;
    out_.covers_window = window.covers_window;
    out_.requests = window.requests;
    out_.reads = window.reads;
    out_.writes = window.writes;
    out_.hits = window.hits;
    out_.bytes = window.bytes;
    out_.absent_max = window.absent_max;
    out_.sampled = window.sampled;
    if (listed == nullptr) return;
    for (const KeyCount& key : listed->keys) wanted_.emplace(key.hash.value, &key);
  }

  Summary finish() {
    for (const KeyCount& key : window_.keys) add_busy(key);
    // Keys of the list that this instance does not list have at most its own absent_max.
    for (const auto& [hash, key] : wanted_) {
      KeyCount unseen;
      unseen.hash = key->hash;
      unseen.key = key->key;
      unseen.db = key->db;
      unseen.high = window_.absent_max;
      add(std::move(unseen));
    }
    return std::move(out_);
  }

 private:
  void add_busy(const KeyCount& key) {
    const bool is_wanted = wanted_.erase(key.hash.value) > 0;
    const bool is_whole = !key.key_truncated;
    if (is_whole && (is_wanted || busy_ < kReportKeys) && add(counts_only(key))) {
      if (!is_wanted) ++busy_;
      return;
    }
    out_.absent_max = std::max(out_.absent_max, key.high);
  }

  bool add(KeyCount key) {
    name_bytes_ += key.key.size();
    if (name_bytes_ > kNameSumMax) return false;
    out_.keys.push_back(std::move(key));
    return true;
  }

  const Summary& window_;
  std::unordered_map<std::uint64_t, const KeyCount*> wanted_;
  Summary out_;
  std::size_t busy_ = 0;
  std::size_t name_bytes_ = 0;
};

}  // namespace

Message make_report(std::span<const Summary> windows, const Message* list) {
  Message report;
  for (const Summary& window : windows) {
    if (window.window == Nanos{}) continue;  // nothing was counted yet
    const Summary* const listed = list != nullptr ? list->window_of(window.measure()) : nullptr;
    report.windows.push_back(WindowReport(window, listed).finish());
  }
  return report;
}

std::vector<detect::FleetWindow> windows_of(const Message& list,
                                            std::span<const detect::Measure> measures) {
  std::vector<detect::FleetWindow> windows;
  windows.reserve(measures.size());
  for (const detect::Measure& measure : measures) {
    detect::FleetWindow& window = windows.emplace_back();
    if (const detect::Summary* const counts = list.window_of(measure))
      window = {.counts = *counts, .instances = list.instances, .step = list.step};
  }
  return windows;
}

detect::CountLevel matters_by(const detect::RuleSet& rules, double burst,
                              const detect::Measure& measure, std::uint64_t instances) {
  const auto measures = rules.measures();
  const auto found = std::find(measures.begin(), measures.end(), measure);
  if (found == measures.end()) return detect::CountLevel(UINT64_MAX);
  const auto index = static_cast<std::size_t>(found - measures.begin());
  return rules.shard_counts(index, burst, static_cast<std::size_t>(instances)).urgent_count;
}

std::uint64_t rounded_instances(std::uint64_t instances) {
  return std::bit_ceil(std::clamp<std::uint64_t>(instances, 1, 256));
}

}  // namespace heatsink::fleet
