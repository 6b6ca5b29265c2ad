// SPDX-License-Identifier: Apache-2.0
// The pages of the admin API, and the functions that provide their contents.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/httpd/httpd.h"
#include "heatsink/report/event.h"
#include "heatsink/report/inspection.h"
#include "heatsink/report/node_report.h"
#include "heatsink/report/warming.h"

namespace heatsink::admin {

// Where the answers come from. Called while a request waits: `ready` and `metrics` by one thread of
// the server, all others by a second one, so each must be safe to call beside all other threads,
// but none is called twice at the same time. None throws. A function that is not set has no page.
// REQUIRES report, metrics, events and ready.
struct Sources {
  std::function<report::Report()> report;
  std::function<std::string()> metrics;                // in the format of Prometheus
  std::function<std::vector<report::Event>()> events;  // oldest first
  // JSON of a window statistic (heatsink stats), over the last so long. kNotFound: there is none.
  // It may ask a server.
  std::function<Result<std::string>(const std::string& name, Nanos window)> statistic;
  std::function<report::WarmReport(report::WarmOrder)> warm;
  // Of one search, by its number; 0: everything.
  std::function<report::WarmReport(std::uint64_t search)> warmed;
  // All that is known of a key, after asking the server about its value: it may take two seconds.
  std::function<report::KeyInspection(std::string name, std::uint32_t db)> key;
  std::function<Status()> ready;  // an error's message is the reason that /healthz gives
};

// For httpd::HttpServer::start().
std::vector<httpd::Route> pages_of(Sources sources);

}  // namespace heatsink::admin
