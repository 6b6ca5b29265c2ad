// SPDX-License-Identifier: Apache-2.0
// Says which keys are hot, by the counts of all workers and of the fleet.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/copies/fleet_counts.h"
#include "heatsink/copies/merged_counts.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/detect/detect.h"
#include "heatsink/net/net.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// Counts flow in, verdicts flow out. It knows nothing about copies, and nothing about keys that an
// order keeps warm. The keeper's thread; no clock, no socket but the fleet's.
class HotKeys {
 public:
  explicit HotKeys(NodeState& shared);

  // Joins the fleet if the options ask for it. `on_list`: a new list has come, so judge() is due.
  void begin_fleet(net::EventLoop& loop, std::function<void()> on_list);
  void take(std::size_t worker, detect::Summary summary) {
    counts_.take(worker, std::move(summary));
  }
  // Judges all keys by the latest counts. O(keys of all workers): up to tens of milliseconds.
  std::vector<detect::Change> judge(TimePoint now);
  // NodeState has other rules and options.
  void follow_policy();
  void set_credentials(const redis::Credentials& credentials) {
    fleet_.set_credentials(credentials);
  }

  // As of the last judge(): hot, write-hot and warm keys, the hottest first.
  const std::vector<detect::Verdict>& verdicts() const { return selector_.verdicts(); }
  std::string reason_now(const detect::Verdict& verdict) const {
    return selector_.reason_now(verdict);
  }
  bool is_hot(KeyHash key) const;  // O(verdicts)
  std::size_t count() const;       // of hot and write-hot keys

  const detect::Summary& counts_of_all() const { return counts_.of_all(); }
  bool has_accesses() const { return counts_.has_accesses(); }  // in some window
  bool is_sampled() const;                                      // Summary::sampled of some window
  double counted_seconds(const detect::Measure& measure) const { return counts_.seconds(measure); }
  // Accesses per second, whatever measure made the key hot.
  double accesses_rate(const detect::Verdict& verdict) const;
  // The commands that the servers were spared for the key (KeyLoads), in that time.
  std::int64_t spared(const detect::Verdict& verdict, double counted_seconds, TimePoint now) const;

  // The whole name of a key that was judged; nothing: it was not, or only the name's beginning is
  // known.
  std::optional<std::string> name_of(KeyHash key) const;
  // What the counts prove of any key. `since`: when counting began.
  detect::Verdict cold_verdict(const std::string& name, std::uint32_t db, TimePoint since) const;
  std::optional<report::FleetReport> report_on_fleet(TimePoint now) const {
    return fleet_.report(now);
  }

 private:
  NodeState& shared_;
  MergedCounts counts_;
  detect::Selector selector_;
  FleetCounts fleet_;
};

}  // namespace heatsink::copies
