// SPDX-License-Identifier: Apache-2.0
// Describes the state of the keeper and its parts for people: /api/hotkeys, and a single key.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/copies/copy_admission.h"
#include "heatsink/copies/counters.h"
#include "heatsink/copies/event_log.h"
#include "heatsink/copies/followed_servers.h"
#include "heatsink/copies/hot_keys.h"
#include "heatsink/copies/hottest_limits.h"
#include "heatsink/copies/missing_copy.h"
#include "heatsink/copies/node_state.h"
#include "heatsink/copies/offload_meter.h"
#include "heatsink/copies/warming.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// It owns nothing and changes nothing but the sample that OffloadMeter takes of its counters. The
// keeper's thread; no clock. A report is O(hot, write-hot, warm and warmed keys).
class KeeperReport {
 public:
  // All outlive it.
  struct Parts {
    const NodeState& shared;
    const Counters& counters;  // the keeper's
    const HotKeys& hot_keys;
    const CopyAdmission& admission;
    const Warming& warming;
    const FollowedServers& servers;
    const HottestLimits& limits;
    const EventLog& events;
    OffloadMeter& offload;
  };
  KeeperReport(const Parts& parts, TimePoint started_at) : of_(parts), started_at_(started_at) {}

  report::Report report(TimePoint now) const;
  // The same with this key only, hot or not. A user who sees redacted names can only ask by a
  // redacted name.
  report::Report report_of(const std::string& name, std::uint32_t db, TimePoint now) const;
  // The keys that are hot or write-hot now, with their true names: the judged ones, hottest first,
  // then those that only an order keeps hot.
  std::vector<detect::Verdict> busy_verdicts(TimePoint now) const;
  // The latest events of a key of a report.
  std::vector<report::Event> events_of(const detect::KeyCount& shown) const;
  // The name of a key of a report that was asked for by `name`; nothing: only the beginning of the
  // name is known.
  std::optional<std::string> true_name(const detect::KeyCount& shown,
                                       const std::string& name) const;
  // For events: the figures that the report of the same moment has.
  EventLog::Reliefs reliefs(TimePoint now) const;

 private:
  report::KeyReport report_on(const detect::Verdict& verdict, TimePoint now) const;
  MissingCopy missing_copy(const detect::Verdict& verdict, const cache::Entry* entry,
                           bool is_off) const;
  void add_traffic(report::Report& report) const;
  void add_configuration(report::Report& report) const;
  void add_keys(report::Report& report) const;
  std::vector<detect::Verdict> verdicts(TimePoint now) const;

  const Parts of_;
  const TimePoint started_at_;
};

}  // namespace heatsink::copies
