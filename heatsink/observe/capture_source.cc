// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/capture_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "heatsink/observe/seconds.h"
#include "heatsink/report/report.h"

namespace heatsink::observe {
namespace {

constexpr Nanos kBetweenLooks = std::chrono::seconds(1);
constexpr Nanos kWorkWindow = std::chrono::seconds(10);
constexpr Nanos kFresh = Millis(200);  // rows younger than this are not rebuilt
// The kernel keeps a packet for two turns of its timer at most (capture/pcap_handle.cc sets 10 ms).
constexpr Nanos kInKernel = Millis(50);
// a larger jump means that somebody set the wall clock
constexpr Nanos kClockSet = std::chrono::seconds(1);
// without a command for this long, `note` says so
constexpr Nanos kSilent = std::chrono::seconds(3);

}  // namespace

CaptureSource::CaptureSource(CaptureSourceOptions options, const OpenCapture& open)
    : options_(std::move(options)), tally_(options_.seed) {
  auto feed = open([this](const capture::CapturedCommand& command) { take(command); });
  if (feed) {
    feed_ = std::move(feed).value();
  } else {
    fail(feed.error().message);
  }
}

void CaptureSource::tick(TimePoint now) {
  if (!feed_) return;
  now_ = now;
  const Nanos before = options_.cpu();
  drain();
  if (!feed_) return;
  if (!started_at_) {
    started_at_ = seen_ = now;
    look();
  }
  if (now - looked_at_ >= kBetweenLooks) look();
  note_work(before);
}

// Adds the work since `cpu_before`, and marks about once a second how much it is.
void CaptureSource::note_work(Nanos cpu_before) {
  work_ += options_.cpu() - cpu_before;
  const TimePoint marked_at = marks_.empty() ? started_at_.value_or(now_) : marks_.back().at;
  if (!feed_ || now_ - marked_at < kBetweenLooks) return;
  marks_.push_back({now_, work_, feed_->counters().commands});
  while (now_ - marks_.front().at > kWorkWindow) marks_.pop_front();
}

std::string CaptureSource::work_text() const {
  constexpr Nanos kWorkMin = std::chrono::seconds(2);
  constexpr double kPercentMin = 0.1;
  if (marks_.size() < 2 || marks_.back().at - marks_.front().at < kWorkMin) return "";
  const WorkMark &first = marks_.front(), &last = marks_.back();
  const double seconds = seconds_of(last.at - first.at);
  const double percent = 100 * seconds_of(last.cpu - first.cpu) / seconds;
  const std::string amount = percent < kPercentMin ? fmt::format("less than {:.1f}", kPercentMin)
                                                   : fmt::format("{:.1f}", percent);
  return fmt::format("; reading them takes {} % of a core at {:.0f} commands/s (measured)", amount,
                     static_cast<double>(last.commands - first.commands) / seconds);
}

void CaptureSource::own_connection(const std::string& local) {
  std::uint16_t port = 0;
  const char* const digits = local.data() + local.rfind(':') + 1;  // from the start without one
  std::from_chars(digits, local.data() + local.size(), port);
  own_.push_back({port, local});
  if (own_.size() > kOwnMax) own_.pop_front();
}

// The clocks are read one after the other, ours first. A delay between the two reads only makes the
// difference smaller, so the greatest difference seen is the closest to the truth.
void CaptureSource::follow_wall_clock(std::int64_t wall_ns) {
  const Nanos here = now_.time_since_epoch() - Nanos(wall_ns);
  if (here > wall_to_ours_ || wall_to_ours_ - here > kClockSet) wall_to_ours_ = here;
}

// Commands from before the first tick are outside the interval. Comparing ports first avoids
// formatting the client's address: it differs for nearly every client.
void CaptureSource::take(const capture::CapturedCommand& command) {
  const auto is_it = [&](const OwnEnd& own) {
    return own.port == command.client.port && own.text == command.client.text();
  };
  const TimePoint at = std::min(moment(command.at_ns), now_ + kClockSet);
  if (!started_at_ || at < *started_at_ || std::ranges::any_of(own_, is_it)) return;
  seen_ = std::max(seen_, at);
  if (!is_heartbeat(command)) tally_.take(command, seen_);
}

// Only HELLO and EXISTS need the client's address as text, and formatting it is expensive.
bool CaptureSource::is_heartbeat(const capture::CapturedCommand& command) {
  if (command.command == nullptr) return false;
  const std::string_view name = command.command->name;
  if (name != "hello" && name != "exists") return false;
  const std::string_view key = command.keys.size() == 1 ? command.keys[0].name : "";
  return others_own_.is_own(command.client.text(), name, key);
}

void CaptureSource::drain() {
  for (int i = 0; i < kDrainsMax; ++i) {
    const std::int64_t wall_ns = options_.wall_ns();
    follow_wall_clock(wall_ns);
    const Result<bool> more = feed_->drain(wall_ns);
    if (!more) {
      if (started_at_) look();
      return fail(more.error().message);
    }
    if (*more) continue;
    seen_ = std::max(seen_, moment(wall_ns) - kInKernel);
    return;
  }
}

void CaptureSource::look() {
  looked_at_ = now_;
  refresh();
  const Nanos watched = now_ - *started_at_;
  if (!feed_) return;
  if (state_ == SourceState::kStarting && watched >= kFirstRows && counters_.commands > 0)
    state_ = SourceState::kRunning;
  if (state_ == SourceState::kStarting && watched >= kSilent) {
    if (counters_.connections_tls > 0) {
      return fail(
          fmt::format("{}: the connections are encrypted (TLS), so a capture cannot read them: "
                      "use --source monitor or lfu, which ask the server",
                      options_.where));
    }
    if (options_.silent_max == Nanos(0)) state_ = SourceState::kRunning;
  }
  if (options_.silent_max > Nanos(0) && watched >= options_.silent_max && counters_.commands == 0)
    fail(fmt::format("no command was seen on {} in {}", options_.where,
                     format_duration(options_.silent_max)));
}

void CaptureSource::refresh() {
  if (feed_) counters_ = feed_->counters();
  loss_.mark(counters_, now_);
  summary_ = tally_.summarize(seen_);
}

// Destroying the feed closes the capture, which frees its buffer in the kernel.
void CaptureSource::fail(std::string why) {
  feed_.reset();
  failure_ = std::move(why);
  state_ = SourceState::kFailed;
}

SourceFacts CaptureSource::facts() const {
  SourceFacts out;
  out.name = "capture";
  out.cost = "sends the server no command; on its machine the kernel copies packets";
  if (feed_) out.cost += work_text();
  out.blind_spots =
      "TLS, Unix sockets, traffic that does not pass here; keys that scripts do not declare; "
      "reads and latency of replies that cannot be matched to a command";
  if (counters_.reply_parts_now < capture::ReplyWatch::kParts) {
    out.cost += fmt::format(
        "; to copy less, it watches the replies of 1 connection in {}, in turns of a second",
        capture::ReplyWatch::kParts / std::max<std::uint64_t>(counters_.reply_parts_now, 1));
    out.blind_spots += "; latency, misses and reply sizes of connections that are not watched";
  }
  const double lost = loss_.commands_max();
  out.confidence = lost < 1 ? "counts every command that passes: the bounds always hold"
                            : fmt::format(
                                  "up to about {:.0f} commands were lost in the last {}: "
                                  "the upper bounds include all of them",
                                  lost, format_duration(CaptureTally::kWindow));
  return out;
}

std::string CaptureSource::note() const {
  if (!failure_.empty()) return failure_;
  const bool silent = started_at_ && now_ - *started_at_ >= kSilent && counters_.commands == 0;
  std::string out;
  if (silent) {
    out =
        fmt::format("no command was seen on {} yet{}", options_.where,
                    counters_.packets > 0 ? "" : ", and no packet: are interface and port right?");
  }
  for (const std::string& caveat : counters_.caveats()) out += (out.empty() ? "" : " ") + caveat;
  if (tally_.servers() > 1) {
    out += fmt::format(
        "{}{} server addresses are seen, {} is the busiest: keys with the same name share one row.",
        out.empty() ? "" : " ", tally_.servers(), tally_.busiest_server());
  }
  return out;
}

// Any one key may have had all of the lost commands, so each upper bound includes all of them.
std::vector<KeyRow> CaptureSource::rows(const detect::Summary& summary) const {
  const double seconds = std::max(seconds_of(summary.covered), 1e-3);
  const double lost_max = loss_.commands_max();
  const double scale =
      summary.requests > 0 ? 1 + loss_.commands() / static_cast<double>(summary.requests) : 1;
  std::vector<KeyRow> out;
  for (const detect::KeyCount& key : summary.keys) {
    KeyRow row;
    row.count = key;
    row.rate = {static_cast<double>(key.likely()) * scale / seconds,
                static_cast<double>(key.low) / seconds,
                (static_cast<double>(key.high) + lost_max) / seconds};
    const auto all = static_cast<double>(std::max<std::uint64_t>(summary.requests, 1));
    row.share = static_cast<double>(key.likely()) / all;
    row.share_low = static_cast<double>(key.low) / all;
    out.push_back(std::move(row));
  }
  return out;
}

Observation CaptureSource::observe(TimePoint now) {
  const Nanos before = options_.cpu();
  if (feed_ && started_at_ && now - looked_at_ >= kFresh) {
    now_ = now;
    drain();
    if (feed_) look();
  }
  Observation out = observation(now);
  note_work(before);
  return out;
}

Observation CaptureSource::observation(TimePoint now) {
  Observation out;
  out.facts = facts();
  out.state = state_;
  out.note = note();
  const double seconds = std::max(seconds_of(summary_.covered), 1e-3);
  const Totals totals{static_cast<double>(summary_.requests) / seconds,
                      static_cast<double>(summary_.reads) / seconds,
                      static_cast<double>(summary_.writes) / seconds, counters_.connections_now};
  out.report = make_report(rows(summary_), totals, options_.server,
                           std::max<Nanos>(summary_.covered, Millis(1)),
                           started_at_ ? now - *started_at_ : Nanos(0), now);
  if (summary_.requests > 0) out.interval = {summary_.at - summary_.covered, summary_.at};
  out.report.upstream_up = feed_ != nullptr;
  out.report.sampled = summary_.sampled;
  out.report.templates = report::templates_report(summary_, loss_.commands_max());
  out.report.absent_max =
      (static_cast<double>(summary_.absent_max) + loss_.commands_max()) / seconds;
  for (const report::KeyReport& key : out.report.keys)
    out.answers.push_back(tally_.answers(key.verdict.count.hash, seen_));
  return out;
}

}  // namespace heatsink::observe
