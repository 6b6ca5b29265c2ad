// SPDX-License-Identifier: Apache-2.0
// Runs MONITOR on one connection and collects the commands between two marks of its own.
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

// The result of one window.
struct MonitoredWindow {
  detect::Summary summary;
  double seconds = 0;
  std::uint64_t lines = 0;
  std::uint64_t unreadable = 0;
};

// One write sends MONITOR and ECHO, which opens a window; a second ECHO closes it. MONITOR reports
// each ECHO with the server's own clock, in microseconds. The window's length is the difference,
// and the commands between the marks are counted exactly, however late they are read. Where ECHO is
// forbidden, our clock measures. The window ends by closing the connection, which stops a flood at
// once. The protocol is `(open begin end? (take_window | close))*`. One thread.
class MonitorStream final : public ServerProtocol {
 public:
  // The part of a line that is kept. It holds the keys of all but the longest commands.
  static constexpr std::size_t kLineBytesMax = 64 * 1024;

  MonitorStream(Login login, std::uint64_t seed) : login_(std::move(login)), seed_(seed) {}

  void open() { state_ = State::kConnecting; }  // REQUIRES closed
  bool is_ready() const { return state_ == State::kReady; }
  void begin(TimePoint now);  // REQUIRES is_ready()
  bool has_begun() const { return begun_; }
  TimePoint begun_at() const { return begun_at_; }
  void end();  // REQUIRES has_begun()
  bool has_ended() const { return state_ == State::kEnded; }
  // The commands up to the end mark, or up to now without one. Closes the connection.
  std::optional<MonitoredWindow> take_window(TimePoint now);
  void close();
  bool is_closed() const { return state_ == State::kClosed; }

  // This process uses that address; its commands are not counted.
  void add_own(const std::string& address) { own_.add(address); }

  // Bytes received in this window.
  std::uint64_t bytes() const { return bytes_; }
  // Why the connection was lost or MONITOR was refused; nothing if neither. Cleared by open().
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
  bool accepted_ = false;  // MONITOR was accepted
  bool begun_ = false;
  TimePoint begun_at_{};       // by our clock
  std::int64_t begun_ns_ = 0;  // by the server's clock; 0: not known
  TimePoint heard_at_{};       // of the last bytes
  std::uint64_t bytes_ = 0;
  ByteBuffer line_;  // an incomplete line
  bool line_cut_ = false;
  std::optional<Error> failure_;
};

}  // namespace heatsink::observe
