// SPDX-License-Identifier: Apache-2.0
// Serves a client's page over HTTP (admin.listen), and remembers what the page shows of the past.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/client/earned_copies.h"
#include "heatsink/client/hot_keys.h"
#include "heatsink/client/kept_keys.h"
#include "heatsink/client/options.h"
#include "heatsink/client/runtime.h"
#include "heatsink/client/server_link.h"
#include "heatsink/client/statistics.h"
#include "heatsink/detect/detect.h"
#include "heatsink/heat/heat.h"
#include "heatsink/report/event.h"
#include "heatsink/report/report.h"

namespace heatsink::httpd {
class HttpServer;
struct Route;
}  // namespace heatsink::httpd

namespace heatsink::client {

// Reads the other parts; owns the heat map, the events and the thread of the HTTP server. Only the
// keeper calls add_heat() and add_events(); they do nothing without a page. Any thread calls
// report().
class AdminPage {
 public:
  struct Parts {  // all outlive it
    const Statistics& statistics;
    const HotKeys& hot_keys;
    const KeptKeys& kept;
    const EarnedCopies* earned;  // null: no key earns a copy
    const ServerLink* server;    // null: level `ttl`
  };
  AdminPage(const ClientOptions& options, const Runtime& runtime, const Parts& parts);
  ~AdminPage();
  AdminPage(const AdminPage&) = delete;

  // Throws std::invalid_argument if admin.listen or a file that it needs cannot be used. No page,
  // and no error: admin.listen is off, or another process has the port. Call order:
  // `start (add_heat | add_events)* stop`.
  void start();
  void stop();  // waits for its thread

  void add_heat(const detect::Summary& counted);  // keeps one column a second
  void add_events(std::span<const detect::Change> changes, TimePoint now);

  report::Report report() const;

 private:
  static constexpr std::size_t kEventsMax = 1000;

  std::vector<httpd::Route> routes();
  std::vector<report::Event> events() const;
  std::string coherence() const;  // for report::Report::coherence
  void add_traffic(report::Report& report, const Stats& now) const;
  void add_hot_keys(report::Report& report, const HotKeys::Known& known,
                    const std::string& level) const;
  void add_key(report::Report& report, const HotKeys::Known& known, const detect::Verdict& verdict,
               const std::string& level) const;

  const ClientOptions& options_;
  const Runtime& runtime_;
  const Parts parts_;
  const TimePoint started_at_;
  std::unique_ptr<heat::History> heat_;  // what was hot when; null without a page
  TimePoint heat_at_{};                  // the keeper's: the second of the last column
  mutable std::mutex mutex_;
  std::deque<report::Event> events_;  // guarded by mutex_, as the next
  std::uint64_t last_event_ = 0;
  std::unique_ptr<httpd::HttpServer> server_;  // null: no page. Last: its thread reads the others
};

}  // namespace heatsink::client
