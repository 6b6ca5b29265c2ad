// SPDX-License-Identifier: Apache-2.0
// Remembers the answers of a server that is observed, for its page: columns, events, the last one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "apps/heatsink/top/answers.h"
#include "heatsink/base/clock.h"
#include "heatsink/heat/heat.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/report/report.h"

namespace heatsink::app {

// Thread-safe: one thread adds, any thread asks. Memory: that of heat::History, kEventsMax events,
// and the verdicts of kVerdictsMax keys.
class ObservedHistory {
 public:
  static constexpr std::size_t kEventsMax = 1000;
  static constexpr std::size_t kVerdictsMax = 10'000;

  // An answer that was asked for with JSON.
  void add(TopAnswer answer, TimePoint now);
  // There was no answer, and why.
  void failed(std::string why);

  std::vector<report::Event> events() const;  // oldest first
  report::Report report() const;              // the totals, and the keys with their verdicts
  std::string json() const;                   // as /api/hotkeys; "": there was no answer yet
  std::string problem() const;                // why the last answer is missing; ""
  const heat::History& heat() const { return heat_; }

 private:
  void note_verdicts(const HotkeysView& view, TimePoint now);

  heat::History heat_;
  mutable std::mutex mutex_;  // guards the members below
  report::Report report_;
  std::string json_;
  std::string problem_ = "the first answer is awaited";
  std::map<std::pair<std::string, std::uint64_t>, detect::Temperature> verdicts_;
  std::deque<report::Event> events_;
  std::uint64_t last_event_ = 0;
};

// The pages of a proxy that such a history has: /, /api/hotkeys, /api/events, /api/heatmap,
// /api/stream, /healthz, /metrics. It must outlive them.
std::vector<httpd::Route> pages_of(const ObservedHistory& history);

}  // namespace heatsink::app
