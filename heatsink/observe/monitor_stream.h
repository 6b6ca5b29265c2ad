// SPDX-License-Identifier: Apache-2.0
// The connection that runs MONITOR: collects what it hears between two marks of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/observe/greeting.h"
#include "heatsink/observe/monitor_window.h"
#include "heatsink/observe/server_protocol.h"

namespace heatsink::observe {

// What one window brought.
struct MonitoredWindow {
  detect::Summary summary;
  double seconds = 0;
  std::uint64_t lines = 0;
  std::uint64_t unreadable = 0;
};

// A window is opened by MONITOR and ECHO in one write, and closed by a second ECHO: its length is
// the time between them on the server's own clock, which MONITOR tells to the microsecond, and
// exactly the commands between them are counted, however late we read them. Where ECHO cannot be
// had, our clock serves. Ended by closing the connection, so that a flood ends at once; the
// protocol is `(open begin end? (take_window | close))*`. One thread.
class MonitorStream final : public ServerProtocol {
 public:
  // Of a line so many bytes are kept; the keys of all but the longest commands are in them.
  static constexpr std::size_t kLineBytesMax = 64 * 1024;

  MonitorStream(Login login, std::uint64_t seed) : login_(std::move(login)), seed_(seed) {}

  void open() { state_ = State::kConnecting; }  // REQUIRES closed
  bool is_ready() const { return state_ == State::kReady; }
  void begin(TimePoint now);  // REQUIRES is_ready()
  bool has_begun() const { return begun_; }
  TimePoint begun_at() const { return begun_at_; }
  void end();  // REQUIRES has_begun()
  bool has_ended() const { return state_ == State::kEnded; }
  // What was heard up to the end mark, or without one up to now; closes.
  std::optional<MonitoredWindow> take_window(TimePoint now);
  void close();
  bool is_closed() const { return state_ == State::kClosed; }

  // This process asks the server from there: it is not counted.
  void add_own(const std::string& address) { own_.add(address); }

  // Of this window. Bytes that came, without looking at them.
  std::uint64_t bytes() const { return bytes_; }
  // Why the connection was lost, or MONITOR refused; nothing: it was not. Cleared by open().
  const std::optional<Error>& failure() const { return failure_; }

  bool wanted() const override { return state_ != State::kClosed && state_ != State::kEnded; }
  void connected(TimePoint now) override;
  Status received(std::string_view bytes, TimePoint now) override;
  void lost(const Error& why, TimePoint now) override;

 private:
  enum class State : std::uint8_t { kClosed, kConnecting, kGreeting, kReady, kOn, kEnding, kEnded };

  Status take_line(std::string_view line, bool cut, TimePoint now);
  Status take_error(std::string_view error, TimePoint now);
  void take_monitored(std::string_view line, bool cut, TimePoint now);
  void start_window(TimePoint now);

  Login login_;
  std::uint64_t seed_;
  MonitorNames names_;
  OwnTraffic own_;
  State state_ = State::kClosed;
  std::size_t greetings_left_ = 0;
  std::unique_ptr<MonitorWindow> window_;
  bool accepted_ = false;  // MONITOR was
  bool begun_ = false;
  TimePoint begun_at_{};       // on our clock
  std::int64_t begun_ns_ = 0;  // on the server's; 0: not known
  TimePoint heard_at_{};       // the last bytes
  std::uint64_t bytes_ = 0;
  ByteBuffer line_;  // the beginning of one that is not complete
  bool line_cut_ = false;
  std::optional<Error> failure_;
};

}  // namespace heatsink::observe
