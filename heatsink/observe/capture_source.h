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
  std::string server;  // as shown
  std::string where;   // what is listened to, for sentences: "port 6379 on interface any"
  // Fails when so long no command was seen; 0: never, it waits (and says so).
  Nanos silent_max{0};
  std::uint64_t seed = 0;
  std::function<std::int64_t()> wall_ns;  // since the epoch, as packets are stamped
  std::function<Nanos()> cpu;             // that this thread has used
};

// Called once, in the constructor: the process may have the right only then.
using OpenCapture =
    std::function<Result<std::unique_ptr<capture::CaptureFeed>>(capture::OnCommand)>;

// Each tick takes what waits, at most kDrainsMax times; what comes faster is dropped by the kernel,
// and told. A command counts when the kernel saw it pass, however late it is read: at some moment
// between its request and its reply. So the rows are exact for an interval that has ended: where
// all that passed has been read. A capture that could not be opened, that has ended (the interface
// is gone) or that sees nothing but TLS has failed; its rows stay. The counts of a key are those of
// the last CaptureTally::kWindow and exact but for what was lost, which widens the upper bounds.
// Memory: that of CaptureTally and of the capture.
class CaptureSource final : public Source {
 public:
  static constexpr int kDrainsMax = 4;
  static constexpr std::size_t kOwnMax = 64;  // connections of ours; the latest are known
  static constexpr Nanos kFirstRows = std::chrono::seconds(2);  // then there is something to show

  CaptureSource(CaptureSourceOptions options, const OpenCapture& open);

  std::span<ServerProtocol* const> protocols() override { return {}; }
  void tick(TimePoint now) override;
  void own_connection(const std::string& local) override;
  Observation observe(TimePoint now) override;

 private:
  struct OwnEnd {  // of a connection of ours
    std::uint16_t port;
    std::string text;
  };

  void follow_wall_clock(std::int64_t wall_ns);
  TimePoint moment(std::int64_t wall_ns) const { return TimePoint(Nanos(wall_ns) + wall_to_ours_); }
  void take(const capture::CapturedCommand& command);
  bool is_heartbeat(const capture::CapturedCommand& command);
  void drain();
  void look();  // about every second
  void fail(std::string why);
  void refresh();
  SourceFacts facts() const;
  std::string note() const;
  std::vector<KeyRow> rows(const detect::Summary& summary) const;

  CaptureSourceOptions options_;
  CaptureTally tally_;
  CaptureLoss loss_{CaptureTally::kWindow};
  std::deque<OwnEnd> own_;
  OwnTraffic others_own_;  // of proxies and the library, in other processes
  std::unique_ptr<capture::CaptureFeed> feed_;
  capture::CaptureCounters counters_;
  TimePoint now_{};
  Nanos wall_to_ours_{0};  // what a packet's stamp needs to be on our clock
  TimePoint seen_{};       // so far all that passed has been counted
  std::optional<TimePoint> started_at_;
  TimePoint looked_at_{};
  Nanos cpu_at_start_{};
  detect::Summary summary_;
  SourceState state_ = SourceState::kStarting;
  std::string failure_;  // why it has failed
};

}  // namespace heatsink::observe
