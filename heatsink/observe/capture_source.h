// SPDX-License-Identifier: Apache-2.0
// A source that counts the traffic of the network: it sends no command to the server.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/capture/capture.h"
#include "heatsink/observe/capture_loss.h"
#include "heatsink/observe/capture_tally.h"
#include "heatsink/observe/own_traffic.h"
#include "heatsink/observe/rows.h"
#include "heatsink/observe/source.h"

namespace heatsink::observe {

struct CaptureSourceOptions {
  std::string server;  // as displayed
  std::string where;   // the place of the capture, for sentences: "port 6379 on interface any"
  // The source fails after this much time without a command. 0: it waits forever and says so.
  Nanos silent_max{0};
  std::uint64_t seed = 0;
  std::function<std::int64_t()> wall_ns;  // since the epoch, the clock of packet timestamps
  std::function<Nanos()> cpu;             // CPU time used by this thread
};

// Called once, in the constructor: only then may the process still have the right to capture.
using OpenCapture =
    std::function<Result<std::unique_ptr<capture::CaptureFeed>>(capture::OnCommand)>;

// Each tick reads the waiting packets, in at most kDrainsMax batches; the kernel drops what does
// not fit its buffer, and `note` reports the loss. A command counts at the time when the kernel saw
// it, however late it is read. That moment lies between its request and its reply. The rows are
// therefore exact for an interval that ends where the capture has read everything.
//
// The source fails if the capture cannot be opened, ends (the interface is gone) or sees only TLS;
// its rows stay. Counts cover the last CaptureTally::kWindow. They are exact except for lost
// commands, which widen the upper bounds. Memory: that of CaptureTally and of the capture.
class CaptureSource final : public Source {
 public:
  static constexpr int kDrainsMax = 4;
  // of heatsink's own connections the latest are remembered
  static constexpr std::size_t kOwnMax = 64;
  static constexpr Nanos kFirstRows = std::chrono::seconds(2);  // rows are shown after this time

  CaptureSource(CaptureSourceOptions options, const OpenCapture& open);

  std::span<ServerProtocol* const> protocols() override { return {}; }
  void tick(TimePoint now) override;
  void own_connection(const std::string& local) override;
  Observation observe(TimePoint now) override;

 private:
  struct OwnEnd {  // heatsink's end of one of its own connections
    std::uint16_t port;
    std::string text;
  };

  void follow_wall_clock(std::int64_t wall_ns);
  TimePoint moment(std::int64_t wall_ns) const { return TimePoint(Nanos(wall_ns) + wall_to_ours_); }
  void take(const capture::CapturedCommand& command);
  bool is_heartbeat(const capture::CapturedCommand& command);
  void drain();
  void look();  // about once a second
  void fail(std::string why);
  void refresh();
  void note_work(Nanos cpu_before);
  Observation observation(TimePoint now);
  std::string work_text() const;  // "" until it is measured
  SourceFacts facts() const;
  std::string note() const;
  std::vector<KeyRow> rows(const detect::Summary& summary) const;

  CaptureSourceOptions options_;
  CaptureTally tally_;
  CaptureLoss loss_{CaptureTally::kWindow};
  std::deque<OwnEnd> own_;
  OwnTraffic others_own_;  // traffic of heatsink proxies and libraries in other processes
  std::unique_ptr<capture::CaptureFeed> feed_;
  capture::CaptureCounters counters_;
  TimePoint now_{};
  Nanos wall_to_ours_{0};  // add to a packet's timestamp to get the time on our clock
  TimePoint seen_{};       // everything up to this time has been counted
  std::optional<TimePoint> started_at_;
  TimePoint looked_at_{};
  // Its own work. Opening the capture and the first second are not in it: they happen once, and at
  // a low rate they would be most of it.
  struct WorkMark {
    TimePoint at{};
    Nanos cpu{0};
    std::uint64_t commands = 0;
  };
  Nanos work_{0};               // CPU time of reading and counting, in tick() and in observe()
  std::deque<WorkMark> marks_;  // one per second, those of the last kWorkWindow
  detect::Summary summary_;
  SourceState state_ = SourceState::kStarting;
  std::string failure_;  // the reason for kFailed
};

}  // namespace heatsink::observe
