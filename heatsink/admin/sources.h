// SPDX-License-Identifier: Apache-2.0
// The functions that provide the contents of the admin API.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/heat/heat.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/report/config_order.h"
#include "heatsink/report/dropping.h"
#include "heatsink/report/event.h"
#include "heatsink/report/inspection.h"
#include "heatsink/report/node_report.h"
#include "heatsink/report/warming.h"

namespace heatsink::admin {

// Functions that provide the answers. They are called while a request waits: `ready` and `metrics`
// by one thread of the server, the others by a second one. So each must be safe next to all other
// threads, but none is called twice at the same time. They must not throw. A function that is not
// set has no page. REQUIRES report, metrics, events and ready.
struct Sources {
  std::function<report::Report()> report;
  std::function<std::string()> metrics;                // in the format of Prometheus
  std::function<std::vector<report::Event>()> events;  // oldest first
  // JSON of a window statistic (heatsink stats) over `window`. kNotFound: it does not exist. May
  // ask a server.
  std::function<Result<std::string>(const std::string& name, Nanos window)> statistic;
  std::function<report::WarmReport(report::WarmOrder)> warm;
  // One search, by its number; 0: everything.
  std::function<report::WarmReport(std::uint64_t search)> warmed;
  // All that is known of a key, including the server's answers about its value: may take two
  // seconds.
  std::function<report::KeyInspection(std::string name, std::uint32_t db)> key;
  std::function<Status()> ready;            // /healthz reports an error's message
  std::function<Status()> alive = nullptr;  // the same for /livez; must not wait
  // JSON: what the checks of server and machine found.
  std::function<std::string()> health = {};
  // JSON: the load of the nodes and slots of a cluster, and whether moving slots would help. Empty
  // text: there is no cluster.
  std::function<std::string()> slots = {};
  // JSON: the replicas that hot keys may be read from.
  std::function<std::string()> replicas = {};
  // What was hot when.
  std::function<heat::HeatMap(const heat::History::Range&, httpd::Now now)> heatmap = {};
  // The same from memory only, for what is sent each second.
  std::function<heat::HeatMap(const heat::History::Range&)> recent_heatmap = {};
  // The counts of now with their bounds, for `heatsink watch`. Nothing: nothing was counted yet.
  std::function<std::optional<heat::Moment>()> counts = {};
  bool has_history_file = false;  // `heatmap` also reads a file, which keeps more
  // JSON of the events of a time, if a file has some that `events` has forgotten; nothing: `events`
  // has them all.
  std::function<std::optional<std::string>(WallTime from, WallTime to, httpd::Now now)>
      kept_events = {};
  // JSON: what would relieve each of the report's keys.
  std::function<Result<std::string>(httpd::Now now)> advice = {};
  // JSON: what is known of a key, and what would relieve it, as heatsink explain --json. As `key`.
  std::function<Result<std::string>(std::string name, std::uint32_t db, httpd::Now now)> explain =
      {};
  // Drops the copies of a key. `who` asks, by name and address.
  std::function<report::DropReport(report::WarmKey key, std::string_view who)> drop = {};
  // Notes for people that an order was given: `what` and by whom, in a sentence. `key`: the one
  // that it is about; without a name: there is not exactly one. Not set: the log gets it.
  std::function<void(std::string what, report::WarmKey key)> note_order = {};
  bool hides_names = false;  // names are redacted: no note may contain a part of one
  // What each key had in a time, and the matches of the rules that hold now: for dry runs of rules.
  // Error: the history has no names, and why.
  std::function<Result<heat::Sums>(TimePoint from, TimePoint to, httpd::Now now)> sums = {};
  std::function<std::vector<std::string>()> matches = {};
  // The configuration: what holds now, and a change of it. `who` asks, by address. The answers are
  // JSON; a refused order (`is_done` false) changed nothing, and its answer says why.
  struct ConfigAnswer {
    bool is_done = true;
    std::string json;
  };
  std::function<std::string()> config = {};
  std::function<ConfigAnswer(const report::ConfigOrder& order, std::string_view who)>
      change_config = {};
  std::function<ConfigAnswer(const report::RuleOrder& order, std::string_view who)> change_rules =
      {};
};

}  // namespace heatsink::admin
