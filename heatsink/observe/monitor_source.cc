// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/monitor_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "heatsink/detect/detect.h"
#include "heatsink/observe/monitor_rates.h"
#include "heatsink/observe/monitor_verdict.h"
#include "heatsink/observe/seconds.h"
#include "heatsink/observe/server_info.h"
#include "heatsink/report/report.h"

namespace heatsink::observe {
namespace {

constexpr Nanos kPingWhileOn = Millis(20);
constexpr Nanos kPingWhileOff = Millis(250);
constexpr Nanos kOpeningMax = std::chrono::seconds(5);
// how long to wait for a server that still sends after the end
constexpr Nanos kEndingMax = Millis(500);
constexpr Nanos kTryAgain = std::chrono::seconds(1);

double millis_of(Nanos duration) { return seconds_of(duration) * 1e3; }

ServerWork work_between(const ServerWork& from, const ServerWork& to, Nanos took) {
  return {seconds_of(took), to.commands - from.commands, to.cpu_seconds - from.cpu_seconds};
}

}  // namespace

MonitorSource::MonitorSource(MonitorSourceOptions options)
    : options_(std::move(options)),
      pipeline_({.login = options_.login}),
      latency_(pipeline_),
      stream_(options_.login, options_.seed),
      pace_(options_.pace),
      protocols_{&pipeline_, &stream_} {}

void MonitorSource::tick(TimePoint now) {
  if (!started_at_) started_at_ = phase_since_ = now;
  if (phase_ == Phase::kOver) return;
  pipeline_.tick(now);
  tick_latency(now);
  switch (phase_) {
    case Phase::kWaiting: {
      // A server that is slow without MONITOR gets no window: MONITOR would make it slower.
      const bool strained = latency_.latest(now) > options_.latency_max;
      if (now < due_ || !pipeline_.is_up() || strained) break;
      stream_.open();
      phase_ = Phase::kOpening;
      phase_since_ = now;
      break;
    }
    case Phase::kOpening:
      tick_opening(now);
      break;
    case Phase::kListening:
    case Phase::kEnding:
      tick_listening(now);
      break;
    case Phase::kAsking:
    case Phase::kOver:
      break;
  }
}

// Stops for good. Only the user, who now knows the reason, may start it again.
void MonitorSource::tick_latency(TimePoint now) {
  const bool on = phase_ == Phase::kListening || phase_ == Phase::kEnding;
  latency_.tick(now, on ? kPingWhileOn : kPingWhileOff, on);
  if (latency_.worst_on(now) > options_.latency_max) {
    // The commands heard so far are exact, so they still count.
    if (on) finish_window(now);
    return stop(
        fmt::format(
            "stopped MONITOR: while it was on, a PING took {:.0f} ms or more (--max-latency {})",
            millis_of(latency_.worst_on(now)), format_duration(options_.latency_max)),
        SourceState::kFinished);
  }
  const Nanos latency = latency_.latest(now);
  if (pipeline_.is_hopeless()) return stop(pipeline_.trouble(), SourceState::kFailed);
  if (!pipeline_.is_up() && !pipeline_.trouble().empty()) {
    note_ = pipeline_.trouble();
  } else if (!on && latency > options_.latency_max) {
    note_ = fmt::format("waiting: a PING takes {:.0f} ms, with MONITOR off (--max-latency {})",
                        millis_of(latency), format_duration(options_.latency_max));
  } else if (pipeline_.is_up() && !strained_) {
    note_.clear();
  }
}

void MonitorSource::tick_opening(TimePoint now) {
  if (stream_.is_ready()) {
    phase_ = Phase::kAsking;
    return ask_work(now, true);
  }
  if (stream_.failure()) return on_failure(*stream_.failure(), now);
  if (now - phase_since_ > kOpeningMax)
    on_failure({ErrorCode::kTimedOut, "the server does not accept a second connection"}, now);
}

void MonitorSource::tick_listening(TimePoint now) {
  if (stream_.failure() && !stream_.has_begun()) return on_failure(*stream_.failure(), now);
  if (stream_.failure()) {
    pace_.halve();
    strained_ = true;
    note_ = fmt::format(
        // Redis disconnects a client whose output buffer exceeds the limit of its class.
        "the server closed the stream ({}; perhaps its client-output-buffer-limit): "
        "using shorter windows",
        stream_.failure()->message);
    return finish_window(now);
  }
  if (stream_.has_ended()) return finish_window(now);
  if (!stream_.has_begun()) {
    if (now - phase_since_ > kOpeningMax)
      on_failure({ErrorCode::kTimedOut, "the server does not answer MONITOR"}, now);
    return;
  }
  const bool full = stream_.bytes() >= options_.window_bytes_max;
  if (phase_ == Phase::kListening && (full || now - stream_.begun_at() >= on_)) {
    stream_.end();
    phase_ = Phase::kEnding;
    phase_since_ = now;
  } else if (phase_ == Phase::kEnding && now - phase_since_ > kEndingMax) {
    pace_.halve();
    strained_ = true;
    note_ = "MONITOR sends more than can be read in time: using shorter windows";
    finish_window(now);
  }
}

// All INFO commands travel in one write, so they describe the same moment.
void MonitorSource::ask_work(TimePoint now, bool window_ahead) {
  pipeline_.ask({"INFO", "stats"}, now, [this](const Result<resp::Value>& reply, TimePoint) {
    stats_ = reply && reply->is_text() ? reply->text : "";
  });
  if (!std::exchange(asked_age_, true)) {
    pipeline_.ask({"INFO", "server"}, now, [this](const Result<resp::Value>& reply, TimePoint) {
      if (reply && reply->is_text()) lifetime_ = lifetime_rate_of(stats_, reply->text);
    });
  }
  pipeline_.ask({"INFO", "cpu"}, now,
                [this, window_ahead](const Result<resp::Value>& reply, TimePoint at) {
                  const bool told = reply && reply->is_text();
                  take_work(told ? work_of(stats_, reply->text) : std::nullopt, at, window_ahead);
                });
}

void MonitorSource::take_work(const std::optional<ServerWork>& work, TimePoint now,
                              bool window_ahead) {
  if (phase_ == Phase::kOver) return;
  std::optional<WorkAt> seen;
  if (work) seen = WorkAt{*work, now};
  latest_ = seen;
  if (const auto rate = executed_rate()) pace_.set_rate(*rate);
  if (!window_ahead) {
    if (seen && before_ && without_)
      pace_.learn(work_between(before_->work, seen->work, seen->at - before_->at), *without_);
    after_ = seen;
    return;
  }
  without_.reset();
  if (seen && after_) without_ = work_between(after_->work, seen->work, seen->at - after_->at);
  before_ = seen;
  if (phase_ != Phase::kAsking) return;
  if (!stream_.is_ready()) return on_failure({ErrorCode::kUnavailable, "the stream was lost"}, now);
  on_ = pace_.next_on();
  stream_.begin(now);
  phase_ = Phase::kListening;
  phase_since_ = now;
}

void MonitorSource::finish_window(TimePoint now) {
  const TimePoint from = stream_.begun_at();
  const Nanos was_on = stream_.has_begun() ? now - from : Nanos(0);
  if (auto heard = stream_.take_window(now); heard && heard->seconds > 0) {
    windows_.push_back({std::move(heard->summary), heard->seconds, from, now,
                        static_cast<double>(heard->lines), before_});
    ++windows_ever_;
    while (windows_.front().from + options_.horizon < now && windows_.size() > kWindowsWanted)
      windows_.pop_front();
  }
  if (state_ == SourceState::kStarting && windows_ever_ >= kWindowsWanted)
    state_ = SourceState::kRunning;
  phase_ = Phase::kWaiting;
  pace_.set_undecided(!observe(now).report.undecided.empty());
  due_ = now + pace_.next_off(was_on);
  ask_work(now, false);
}

void MonitorSource::on_failure(const Error& why, TimePoint now) {
  stream_.close();
  if (is_final(why)) return stop(why.message, SourceState::kFailed);
  note_ = why.message;
  strained_ = true;
  phase_ = Phase::kWaiting;
  due_ = now + kTryAgain;
}

void MonitorSource::stop(std::string why, SourceState state) {
  stream_.close();
  pipeline_.end();
  phase_ = Phase::kOver;
  note_ = std::move(why);
  state_ = state;
}

SourceFacts MonitorSource::facts() const {
  const Nanos on = pace_.next_on();
  SourceFacts out;
  out.name = "monitor";
  const auto price = pace_.price();
  out.cost = price ? fmt::format(
                         "MONITOR, {:.0f} ms at a time: "
                         "it takes {:.0f} % of the server's core while it is on, "
                         "{:.1f} % over time (measured)",
                         millis_of(on), 100 * *pace_.loss(), 100 * price->part)
                   : fmt::format(
                         "MONITOR, {:.0f} ms at a time, with long pauses: while it is on, "
                         "it can take half of a busy server's throughput (not measured yet)",
                         millis_of(on));
  out.blind_spots =
      "traffic between the windows; sizes of values; which reads miss; AUTH and admin commands";
  out.confidence = windows_.size() >= kWindowsForChange
                       ? "the mean rate lies within the bounds with 95 %"
                       : "the bounds hold with 95 % only for a steady rate: too few windows yet";
  return out;
}

// Commands per second since the first window, by the server's own count, which has no pauses.
// Nothing: INFO is refused, or the server was restarted.
std::optional<double> MonitorSource::executed_rate() const {
  if (windows_.empty() || !windows_.front().before || !latest_) return std::nullopt;
  const WorkAt& first = *windows_.front().before;
  const double seconds = seconds_of(latest_->at - first.at);
  const double commands = latest_->work.commands - first.work.commands;
  if (seconds <= 0 || commands < 0) return std::nullopt;
  return commands / seconds;
}

void MonitorSource::judge(const std::vector<WindowCount>& lines, double watched_s,
                          Observation& out) const {
  ServerCount count{executed_rate(), lifetime_};
  if (latest_) count.ever = latest_->work.commands;
  bound_by_executed(lines, watched_s, count.executed, out.report);
  out.may_be_pause = may_be_pause(watched_s, count, out.report);
  if (state_ == SourceState::kStarting) return;
  out.report.undecided = what_is_undecided(lines, watched_s, count, out.report);
}

Observation MonitorSource::observe(TimePoint now) {
  Observation out;
  out.facts = facts();
  out.state = state_;
  out.note = note_;
  out.trouble = pipeline_.trouble();
  MonitorWindows windows;
  std::vector<WindowCount> lines;
  double seconds = 0;
  Totals totals;
  for (const Window& window : windows_) {
    lines.push_back({window.seconds, window.lines, window.lines});
    windows.counts.push_back(window.summary);
    windows.seconds.push_back(window.seconds);
    windows.lines.push_back(window.lines);
    seconds += window.seconds;
    totals.requests_rate += static_cast<double>(window.summary.requests);
    totals.writes_rate += static_cast<double>(window.summary.writes);
  }
  const Nanos watched = windows_.empty() ? Nanos(0) : windows_.back().to - windows_.front().from;
  if (seconds > 0) {
    totals.requests_rate /= seconds;
    totals.writes_rate /= seconds;
    totals.reads_rate = totals.requests_rate - totals.writes_rate;
  }
  windows.watched_seconds = seconds_of(watched);
  windows.executed = executed_rate();
  MonitorRates rates = rates_of(windows);
  out.report = make_report(std::move(rates.keys), totals, options_.server,
                           std::max<Nanos>(watched, Millis(1)),
                           started_at_ ? now - *started_at_ : Nanos(0), now);
  if (!windows_.empty()) out.interval = {windows_.front().from, windows_.back().to};
  out.report.upstream_up = pipeline_.is_up();
  out.report.absent_max = absent_rate(windows, out.report.keys);
  judge(lines, windows.watched_seconds, out);
  out.report.templates = std::move(rates.templates);
  return out;
}

}  // namespace heatsink::observe
