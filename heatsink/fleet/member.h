// SPDX-License-Identifier: Apache-2.0
// One instance of a fleet: reports what it counts, reads the merged list, and merges if elected.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/detect/summary.h"
#include "heatsink/fleet/changes.h"
#include "heatsink/fleet/merger.h"
#include "heatsink/fleet/message.h"
#include "heatsink/fleet/names.h"
#include "heatsink/fleet/port.h"

namespace heatsink::fleet {

using List = std::shared_ptr<const Message>;

struct MemberOptions {
  std::string fleet = "default";  // its name: instances with the same one count together
  std::uint64_t shards = 1;       // the same for all of them
  std::string id;                 // unlike all others
  Nanos interval = Millis(250);   // the shortest step
  Matters matters = {};           // empty: by the thresholds of `hot-qps: auto`
  std::uint64_t seed = 0;         // of the hashes
  std::uint64_t random_seed = 1;  // of the jitter
  // Reads a list; empty: decode(). A simulation reads each one once for all its instances.
  std::function<Result<List>(const std::string& bytes, TimePoint now)> reader = {};
};

struct MemberCounts {
  std::uint64_t reports = 0;   // sent
  std::uint64_t urgent = 0;    // of them: because a change mattered
  std::uint64_t late = 0;      // not sent, because the server had not answered the one before
  std::uint64_t failures = 0;  // refused by the server, or without an answer
  std::uint64_t lists = 0;     // new lists read
  Merger::Counts merger;
};

// A state machine without a socket; one thread. One step: SET of the report, GETRANGE of the list
// (twice where the step is the shortest one), at times SADD; in one pipeline. In between it looks
// for changes that matter (changes.h), reports them at once, tells the merger by SET of the news,
// and reads the list again soon. It makes kUrgentAtOnce such reports at once, then one per step.
// It never waits: without answers it reports nothing, and list() ends soon. Whatever is on the
// server, it costs bounded memory and time.
//
// Without a list, or if the list stops changing, each instance tries to become the merger
// (SET NX PX). One succeeds, and merges until it loses the lock.
class Member {
 public:
  // `port` outlives it and must not call back after its end.
  Member(const MemberOptions& options, Port& port);
  ~Member();
  Member(const Member&) = delete;

  TimePoint due() const;  // of the next turn()
  // Whether turn() uses the counts; otherwise they may be left out.
  bool needs_counts(TimePoint now) const;
  // Does what is due. `windows`: what this instance counts now, hashed with `seed`.
  void turn(TimePoint now, std::span<const detect::Summary> windows);

  // Takes this instance out of the fleet, so that its counts are not in the next sum. Asks without
  // waiting for the replies; the owner sends what was asked, and destroys the member.
  void farewell();

  // Null: no list, or none for so long that it says nothing about now.
  List list(TimePoint now) const;
  std::uint64_t instances() const { return list_ ? list_->instances : 1; }  // of the latest list
  Nanos list_age(TimePoint now) const { return list_ ? now - list_at_ : Nanos::max(); }
  // The problem, and what to do; "": the latest report and list have succeeded.
  const std::string& problem() const { return problem_; }
  // The server answered, and refused.
  bool is_refused() const { return is_refused_; }
  bool merges() const { return merger_ != nullptr; }
  const MemberCounts& counts() const { return counts_; }

  static std::uint64_t shard_of(std::string_view id, std::uint64_t shards);

 private:
  void report(TimePoint now, std::span<const detect::Summary> windows, bool is_urgent);
  bool may_be_urgent(TimePoint now) const;
  bool is_urgent(TimePoint now, std::span<const detect::Summary> windows);
  void read_again(TimePoint now);
  void tell_news();
  void read_list();
  void ask(std::vector<std::string> words, Port::Done done);
  void write(std::vector<std::string> words);
  void on_list(const Result<resp::Value>& reply, TimePoint now);
  void take(List list, TimePoint now);
  void elect_if_stuck(TimePoint now);
  void elect(const std::string& lock, std::function<void()> elected);
  void begin_to_merge();
  void begin_to_merge_all();
  void copy_all_list(TimePoint now);
  void on_all_list(const Result<resp::Value>& reply, TimePoint now);
  void failed(const std::string& what, const Result<resp::Value>& reply, TimePoint now);

  Nanos step() const;
  Nanos look() const;
  Nanos refresh() const;
  Nanos valid_for() const;  // of a list
  Nanos life() const;       // of a report
  Nanos jittered(Nanos time);

  const MemberOptions options_;
  const Names names_;
  const std::uint64_t shard_;
  Port& port_;
  std::minstd_rand random_;
  TimePoint report_due_{};
  TimePoint read_due_ = TimePoint::max();  // of the list, between two reports
  int reads_left_ = 0;                     // after an urgent report
  TimePoint look_due_{};
  TimePoint urgent_paid_until_{};  // one report per step, kUrgentAtOnce of them in advance
  Changes changes_;
  TimePoint reported_at_{};
  bool has_begun_ = false;
  std::uint64_t turns_ = 0;
  bool is_added_ = false;    // to the set; unknown after a failure
  std::size_t waiting_ = 0;  // replies to the latest report
  bool is_electing_ = false;
  List list_;
  TimePoint list_at_{};  // when its sequence changed
  std::unique_ptr<Merger> merger_;
  // With several shards:
  std::unique_ptr<Merger> all_merger_;
  std::uint64_t all_sequence_ = 0;
  TimePoint copy_due_{};
  TimePoint all_changed_at_{};
  MemberCounts counts_;
  std::string problem_;
  bool has_failed_ = false;                     // in this step
  TimePoint failing_since_ = TimePoint::max();  // max: it is not
  bool is_refused_ = false;
};

}  // namespace heatsink::fleet
