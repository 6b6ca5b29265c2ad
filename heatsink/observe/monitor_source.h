// SPDX-License-Identifier: Apache-2.0
// A source that listens to MONITOR for short times: exact names within seconds, at a stated cost.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/observe/command_pipeline.h"
#include "heatsink/observe/latency_probe.h"
#include "heatsink/observe/monitor_pace.h"
#include "heatsink/observe/monitor_stream.h"
#include "heatsink/observe/rate_bounds.h"
#include "heatsink/observe/rows.h"
#include "heatsink/observe/source.h"
#include "heatsink/report/report.h"

namespace heatsink::observe {

struct MonitorSourceOptions {
  Login login;
  std::string server;  // as displayed, without a password
  MonitorPaceOptions pace;
  Nanos latency_max = Millis(100);              // a slower PING while MONITOR is on ends it
  Nanos horizon = std::chrono::seconds(30);     // the rows cover the windows of this time
  std::uint64_t window_bytes_max = 32U << 20U;  // a window ends early after this many bytes
  std::uint64_t seed = 0;
};

// Uses two connections: one runs MONITOR, opened anew for each window; the other measures, with
// PING during a window and INFO before and after. The measured cost of MONITOR appears in the facts
// and decides the length of the windows (monitor_pace.h).
class MonitorSource final : public Source {
 public:
  static constexpr std::size_t kWindowsWanted = 5;  // for useful bounds

  explicit MonitorSource(MonitorSourceOptions options);

  std::span<ServerProtocol* const> protocols() override { return protocols_; }
  void tick(TimePoint now) override;
  void own_connection(const std::string& local) override { stream_.add_own(local); }
  Observation observe(TimePoint now) override;

 private:
  enum class Phase : std::uint8_t { kWaiting, kOpening, kAsking, kListening, kEnding, kOver };
  struct WorkAt {
    ServerWork work;
    TimePoint at{};
  };
  struct Window {
    detect::Summary summary;
    double seconds = 0;
    TimePoint from{};
    TimePoint to{};
    double lines = 0;
    std::optional<WorkAt> before;
  };

  void tick_latency(TimePoint now);
  void tick_opening(TimePoint now);
  void tick_listening(TimePoint now);
  void ask_work(TimePoint now, bool window_ahead);
  void take_work(const std::optional<ServerWork>& work, TimePoint now, bool window_ahead);
  void finish_window(TimePoint now);
  void on_failure(const Error& why, TimePoint now);
  void stop(std::string why, SourceState state);
  std::optional<double> executed_rate() const;
  void judge(const std::vector<WindowCount>& lines, double watched_s, Observation& out) const;
  SourceFacts facts() const;

  MonitorSourceOptions options_;
  CommandPipeline pipeline_;
  LatencyProbe latency_;
  MonitorStream stream_;
  MonitorPace pace_;
  std::vector<ServerProtocol*> protocols_;
  Phase phase_ = Phase::kWaiting;
  TimePoint due_{};
  TimePoint phase_since_{};
  Nanos on_{0};            // the length of the open window
  bool strained_ = false;  // the window was cut short
  std::deque<Window> windows_;
  std::size_t windows_ever_ = 0;
  std::optional<TimePoint> started_at_;
  std::optional<WorkAt> before_;  // at the start of the latest window
  std::optional<WorkAt> after_;   // at the end of the latest window
  std::optional<WorkAt> latest_;  // nothing: the latest INFO did not tell
  std::optional<ServerWork> without_;
  std::optional<double> lifetime_;  // commands per second since the server's start
  bool asked_age_ = false;
  std::string stats_;  // the first INFO's reply, while the next is awaited
  SourceState state_ = SourceState::kStarting;
  std::string note_;
};

}  // namespace heatsink::observe
