// SPDX-License-Identifier: Apache-2.0
// Decides which keys get an entry in the hot table, and so may have copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/copies/copy_chooser.h"
#include "heatsink/copies/counters.h"
#include "heatsink/copies/fill_request.h"
#include "heatsink/copies/learned.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/copies/warmer.h"
#include "heatsink/copies/worker_sample.h"
#include "heatsink/detect/detect.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// Three kinds of keys have an entry: hot keys (follow()), keys whose copies pay (admit()), and
// warmed ones, which the warmer adds; those stay here whatever else ends.
//
// Accesses, fills, ends and verdicts flow in; entries of the table flow out. The keeper's thread.
// No clock, no socket.
class CopyAdmission {
 public:
  // All outlive it. `counters`: the keeper's.
  CopyAdmission(NodeState& shared, Counters& counters, const Warmer& warmer, TimePoint now);

  // For a fill whose worker asks for an entry (FillRequest::admits).
  void admit(FillRequest& request, TimePoint now);
  // A fill has ended.
  void filled(const FillRequest& asked, FillOutcome outcome);
  // The server has said that this key has changed, which has a copy.
  void ended(const cache::Entry& entry);

  // Gives and takes entries by the latest judging: `changes`, and all `verdicts` after them.
  void follow(std::span<const detect::Change> changes, std::span<const detect::Verdict> verdicts,
              TimePoint now);
  // Whether copies of this hot key spare the server more than they cost it.
  bool is_worth_holding(const detect::Verdict& verdict) const;
  policy::CopiesFor copies_for(const detect::KeyCount& count) const;

  // Without a choice only hot keys get copies, and the calls of this paragraph do nothing.
  bool has_choice() const { return chooser_.has_value(); }
  void play(const WorkerSample& sample, TimePoint now);
  void set_server_scale(const admit::Scale& scale);
  // About once per second. `cpu`: of the keeper's thread since its start; 0: not measured. Drops
  // also entries that nobody has read for twice the time that a copy lives.
  void tick(TimePoint now, Nanos cpu);
  Learned learned() const;
  void begin_with(const Learned& learned);

  // NodeState has other options, which entries and copies must follow.
  void set_table_policies(const policy::ProxyOptions& before, bool rights_known);
  // The same for the choice; it may begin now.
  void follow_options(const admit::Scale& server_scale);

  // First the keys that are hot by their rate, the busiest one first; then those whose copies save
  // most.
  std::vector<KeyHash> best_keys(std::span<const detect::Verdict> verdicts, std::size_t count_max,
                                 TimePoint now) const;
  // Without the workers' counts. Nothing: only hot keys get copies.
  std::optional<report::CopiesReport> report(TimePoint now) const;

 private:
  bool is_worth_holding(const detect::KeyCount& count) const;
  bool is_worth_holding_in_fleet(const detect::Verdict& verdict) const;
  void cool_down(const detect::KeyCount& count);
  void promote(const detect::Verdict& verdict, TimePoint now);
  void note_own_work(TimePoint now, Nanos cpu);
  std::optional<cache::ConsistencyPolicy> consistency_now(const cache::Entry& entry) const;
  std::vector<report::CopiesReport::Copy> best_copies(TimePoint now) const;

  NodeState& shared_;
  Counters& counters_;
  const Warmer& warmer_;
  std::optional<CopyChooser> chooser_;
  CopyChooser::KeeperWork own_work_;  // in total, at the last tick()
  std::uint64_t held_ends_ = 0;       // of copies of keys that are held
  admit::CopySavings savings_;        // empty without a choice
};

}  // namespace heatsink::copies
