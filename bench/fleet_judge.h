// SPDX-License-Identifier: Apache-2.0
// Says from which list on an instance of a simulated fleet calls the new key hot.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bench/fleet_windows.h"
#include "heatsink/detect/detect.h"
#include "heatsink/fleet/fleet.h"

namespace heatsink::bench {

// A list, and what it says of the new key alone: the selector judges each key by itself.
struct JudgedList {
  std::string bytes;
  fleet::List list;
  std::vector<detect::FleetWindow> windows;
};

// Decodes each list once for all instances: their hashes have one seed.
class ListReader {
 public:
  ListReader(std::uint64_t shards, const detect::RuleSet& rules) : shards_(shards), rules_(rules) {}

  // The result is valid until the next call.
  Result<const JudgedList*> read(const std::string& bytes, TimePoint now) {
    for (const JudgedList& each : known_)
      if (each.bytes == bytes) return &each;
    Result<fleet::Message> message =
        fleet::decode(bytes, fleet::list_bounds(shards_), kFleetSeed, now);
    if (!message.ok()) return message.error();
    if (known_.size() == kKnownMax) known_.pop_back();
    JudgedList& added = known_.emplace_front();
    added.bytes = bytes;
    added.list = std::make_shared<const fleet::Message>(std::move(*message));
    added.windows = fleet::windows_of(*added.list, rules_.measures());
    for (detect::FleetWindow& window : added.windows)
      std::erase_if(window.counts.keys, [](const auto& key) { return key.key != kNewKey; });
    return &added;
  }

 private:
  static constexpr std::size_t kKnownMax = 8;  // shards are some lists apart

  const std::uint64_t shards_;
  const detect::RuleSet& rules_;
  std::deque<JudgedList> known_;  // the latest first
};

// The selector of an instance that does not call the key hot by its own counts.
class Judge {
 public:
  explicit Judge(const detect::SelectorOptions& options) : selector_(options) {}

  static detect::SelectorOptions options() {
    detect::Rule rule;
    rule.measure.window = kFleetWindow;
    detect::set_thresholds(rule, {}, {});
    detect::SelectorOptions selector;
    selector.rules = detect::RuleSet(rule);
    return selector;
  }

  void read(const JudgedList& list, TimePoint now) {
    if (list.list->sequence == sequence_) return;
    sequence_ = list.list->sequence;
    detect::Summary here;
    here.at = now;
    here.window = here.covered = kFleetWindow;
    here.covers_window = true;
    std::vector<detect::FleetWindow> windows = list.windows;
    for (detect::FleetWindow& window : windows) window.counts.at = now;
    for (const detect::Change& change : selector_.update({&here, 1}, windows))
      is_hot_ |= change.kind == detect::Change::Kind::kPromote;
  }

  bool is_hot() const { return is_hot_; }  // by some list so far

 private:
  detect::Selector selector_;
  std::uint64_t sequence_ = 0;
  bool is_hot_ = false;
};

// When each instance of a fleet calls the new key hot.
class Discovery {
 public:
  Discovery(std::uint64_t shards, const detect::RuleSet& rules) : lists_(shards, rules) {}

  void begin(TimePoint now) { began_at_ = now; }
  // Since when the new key gets its share, in seconds; negative: not yet.
  double hot_for(TimePoint now) const { return began_at_ ? seconds(now - *began_at_) : -1; }

  // A list that the instance with this judge reads.
  Result<fleet::List> read(Judge& judge, const std::string& bytes, TimePoint now) {
    const Result<const JudgedList*> list = lists_.read(bytes, now);
    if (!list.ok()) return list.error();
    const bool was_hot = judge.is_hot();
    judge.read(**list, now);
    if (!was_hot && judge.is_hot()) found_.push_back(hot_for(now));
    return (*list)->list;
  }
  const std::vector<double>& found() const { return found_; }  // hot_for(), in the order of time

 private:
  ListReader lists_;
  std::optional<TimePoint> began_at_;
  std::vector<double> found_;
};

}  // namespace heatsink::bench
