// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/monitor_stream.h"

#include <algorithm>
#include <utility>

#include "heatsink/observe/seconds.h"

namespace heatsink::observe {
namespace {

constexpr std::string_view kBeginMark = "heatsink:monitor:begin";
constexpr std::string_view kEndMark = "heatsink:monitor:end";

double seconds_between(std::int64_t from_ns, std::int64_t to_ns) {
  return static_cast<double>(std::max<std::int64_t>(to_ns - from_ns, 0)) / 1e9;
}

}  // namespace

void MonitorStream::connected(TimePoint /*now*/) {
  state_ = State::kGreeting;
  output_.clear();
  line_.clear();
  line_cut_ = accepted_ = begun_ = false;
  bytes_ = 0;
  failure_.reset();
  greetings_left_ = append_greeting(output_, login_);
}

void MonitorStream::begin(TimePoint now) {
  resp::append_request(output_, {"MONITOR"});
  resp::append_request(output_, {"ECHO", kBeginMark});
  state_ = State::kOn;
  start_window(now);
  window_->expect_mark(std::string(kBeginMark));
}

void MonitorStream::end() {
  resp::append_request(output_, {"ECHO", kEndMark});
  window_->expect_mark(std::string(kEndMark));
  state_ = State::kEnding;
}

void MonitorStream::close() {
  state_ = State::kClosed;
  window_.reset();
  begun_ = false;
}

void MonitorStream::start_window(TimePoint now) {
  window_ = std::make_unique<MonitorWindow>(resp::CommandTable::built_in(), names_, own_, seed_);
  begun_at_ = heard_at_ = now;
  begun_ns_ = 0;
}

Status MonitorStream::received(std::string_view bytes, TimePoint now) {
  bytes_ += bytes.size();
  heard_at_ = now;
  while (!bytes.empty() && wanted()) {
    const std::size_t end = bytes.find('\n');
    const std::string_view piece = bytes.substr(0, end);
    bytes.remove_prefix(end == std::string_view::npos ? bytes.size() : end + 1);
    const bool whole = end != std::string_view::npos;
    if (whole && line_.empty() && !line_cut_) {
      if (Status taken = take_line(piece, false, now); !taken) return taken;
      continue;
    }
    const std::string_view kept =
        piece.substr(0, kLineBytesMax - std::min(line_.size(), kLineBytesMax));
    line_cut_ = line_cut_ || kept.size() < piece.size();
    line_.append(kept);
    if (!whole) continue;
    Status taken = take_line(line_.view(), line_cut_, now);
    line_.clear();
    line_cut_ = false;
    if (!taken) return taken;
  }
  return Unit{};
}

Status MonitorStream::take_line(std::string_view line, bool cut, TimePoint now) {
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (state_ == State::kGreeting) {
    const std::string_view error = line.starts_with('-') ? line.substr(1) : std::string_view();
    if (Status ok = judge_greeting(error, greetings_left_); !ok) return ok;
    if (--greetings_left_ == 0) state_ = State::kReady;
    return Unit{};
  }
  if (!window_)
    return Error{ErrorCode::kProtocol, "the server sends lines before MONITOR was asked for"};
  if (line.starts_with('-')) return take_error(line.substr(1), now);
  if (line == "+OK" && !accepted_) {
    accepted_ = true;
  } else if (line.starts_with('+')) {
    take_monitored(line.substr(1), cut, now);
  } else if (!line.starts_with('$') && line != kBeginMark && line != kEndMark) {
    return Error{ErrorCode::kProtocol, "a line of the stream is not from MONITOR"};
  }
  return Unit{};
}

// Once MONITOR is accepted, only ECHO can be refused. Then our own clock measures the window.
Status MonitorStream::take_error(std::string_view error, TimePoint now) {
  if (!accepted_) return refusal("MONITOR", error);
  if (state_ == State::kEnding) {
    state_ = State::kEnded;
  } else {
    start_window(now);
    begun_ = true;
  }
  return Unit{};
}

void MonitorStream::take_monitored(std::string_view line, bool cut, TimePoint now) {
  window_->take(line, cut);
  if (!window_->mark_seen()) return;
  if (state_ == State::kEnding) {
    state_ = State::kEnded;
  } else if (!begun_) {
    const std::int64_t begun_ns = window_->mark_ns();
    start_window(now);
    begun_ns_ = begun_ns;
    begun_ = true;
  }
}

std::optional<MonitoredWindow> MonitorStream::take_window(TimePoint now) {
  std::optional<MonitoredWindow> out;
  if (begun_) {
    out.emplace();
    const std::int64_t end_ns = window_->mark_seen() ? window_->mark_ns() : window_->last_ns();
    out->seconds = begun_ns_ != 0 && end_ns != 0 ? seconds_between(begun_ns_, end_ns)
                                                 : seconds_of(std::max(heard_at_, now) - begun_at_);
    out->lines = window_->lines();
    out->unreadable = window_->unreadable();
    out->summary = window_->summarize();
  }
  close();
  return out;
}

void MonitorStream::lost(const Error& why, TimePoint /*now*/) {
  failure_ = why;
  if (!begun_) close();
  if (begun_) state_ = State::kEnded;
}

}  // namespace heatsink::observe
