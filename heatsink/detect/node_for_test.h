// SPDX-License-Identifier: Apache-2.0
// For tests: workers and a keeper in virtual time, connected as in the proxy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/detect/merge.h"
#include "heatsink/detect/recorder.h"
#include "heatsink/detect/selector.h"

namespace heatsink::detect {

// Each worker hands over its summary at each tick, and at once when record() asks for it; the
// keeper then updates its verdicts. The time is that of the last call.
class NodeForTest {
 public:
  struct Told {
    TimePoint at{};
    Change change;
  };

  NodeForTest(const SelectorOptions& options, std::size_t workers, TimePoint start,
              Nanos tick = std::chrono::milliseconds(100))
      : selector_(options), tick_(tick), next_tick_(start + tick), now_(start) {
    const Rule& rule = options.rules.rules().front();
    const RuleSet::ShardCounts counts = options.rules.shard_counts(0, options.burst, workers);
    RecorderOptions recorder;
    recorder.window = rule.measure.window;
    recorder.dimension = rule.measure.dimension;
    recorder.memory_bytes /= workers;
    recorder.urgent_count = counts.urgent_count;
    floor_ = counts.floor;
    for (std::size_t i = 0; i < workers; ++i) recorders_.emplace_back(recorder);
    summaries_.resize(workers);
  }

  void record(std::size_t worker, std::string_view key, AccessKind kind = AccessKind::kRead) {
    Access access{.hash = in_db(hash_name(key, kSeed), 0), .key = key, .kind = kind};
    if (!recorders_[worker].record(access, now_)) return;
    hand_on(worker);
    judge();
  }

  // Runs the ticks on the way.
  void go_to(TimePoint at) {
    for (; next_tick_ <= at; next_tick_ += tick_) {
      now_ = next_tick_;
      for (std::size_t i = 0; i < recorders_.size(); ++i) hand_on(i);
      judge();
    }
    now_ = at;
  }

  TimePoint now() const { return now_; }
  const std::vector<Told>& told() const { return told_; }
  const Selector& selector() const { return selector_; }

 private:
  static constexpr std::uint64_t kSeed = 1;
  static constexpr std::size_t kKeysMax = 4096;

  void hand_on(std::size_t worker) {
    summaries_[worker] = recorders_[worker].summarize(now_, kKeysMax, floor_);
  }
  void judge() {
    for (Change& change : selector_.update(merge(summaries_, kKeysMax))) {
      told_.push_back({now_, std::move(change)});
    }
  }

  Selector selector_;
  Nanos tick_;
  TimePoint next_tick_;
  TimePoint now_;
  CountLevel floor_;
  std::vector<Recorder> recorders_;
  std::vector<Summary> summaries_;
  std::vector<Told> told_;
};

}  // namespace heatsink::detect
