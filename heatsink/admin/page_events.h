// SPDX-License-Identifier: Apache-2.0
// Makes the messages of GET /api/stream, which the page in a browser follows.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/heat/heat.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/report/report.h"

namespace heatsink::admin {

// One thread. A second costs a report and the columns of one or two seconds, however many readers
// there are; its messages are under 1.5 KB if no name is new (docs/reference/http-api.md).
class PageEvents {
 public:
  static constexpr std::int64_t kResumesFor = 60;  // seconds that a reader may have missed
  static constexpr std::size_t kEventsMax = 5;     // in one message, the latest ones
  static constexpr Nanos kIdleAfter = std::chrono::seconds(5);  // without next(): no reader

  struct Sources {
    std::function<report::Report()> report;
    std::function<std::vector<report::Event>()> events;                 // oldest first
    std::function<heat::HeatMap(const heat::History::Range&)> heatmap;  // in memory only
  };
  explicit PageEvents(Sources sources) : sources_(std::move(sources)) {}

  // As httpd::EventSource.
  std::string next(const httpd::Now& now);
  std::string first(const httpd::Now& now, std::string_view last_id);

 private:
  heat::HeatMap since(std::int64_t number, TimePoint until, const httpd::Now& now) const;
  std::string columns(const httpd::Now& now);
  std::string state(const httpd::Now& now);

  const Sources sources_;
  heat::ColumnStream stream_;
  std::optional<std::int64_t> sent_;  // the number of the last column
  std::optional<TimePoint> next_at_;
  std::optional<std::uint64_t> seen_;       // the number of the last event
  std::optional<std::uint64_t> signature_;  // of the keys that /api/hotkeys has
};

// The stream of these pages, for its route.
std::shared_ptr<const httpd::EventSource> event_source_of(PageEvents::Sources sources);

}  // namespace heatsink::admin
