// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/event_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "heatsink/base/log.h"
#include "heatsink/base/printable.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {
namespace {

using detect::Temperature;
using report::Event;

bool is_hot(Temperature temperature) {
  return temperature == Temperature::kHot || temperature == Temperature::kWriteHot;
}

bool concerns_hot(const Event& event) {
  return event.nothing_hot || event.stale_read || event.outage || event.order ||
         event.config != Event::Config::kNone || event.limit != Event::Limit::kNone ||
         is_hot(event.temperature) || is_hot(event.before);
}

// "" if there is nothing to tell: no copy has answered, and no command was spared or added.
std::string relief_text(const Event& event) {
  const std::optional<report::LoadRelief>& relief = event.relief;
  if (!relief || (relief->hits == 0 && relief->offload == 0)) return "";
  const char* const whose = event.nothing_hot ? "the" : "its";
  return fmt::format(
      "; copies answered {:.1f} % of {} reads, and {:.1f} % of {} load was taken off",
      100 * relief->hit_ratio, whose, 100 * relief->offload, whose);
}

}  // namespace

std::string event_sentence(const Event& event) {
  if (event.nothing_hot) return "nothing is hot: " + event.reason + relief_text(event);
  if (event.outage) return "stale while error: " + event.reason;
  if (event.config == Event::Config::kChanged) return "configuration changed: " + event.reason;
  if (event.config == Event::Config::kRefused) return "configuration refused: " + event.reason;
  if (event.order && event.key.empty()) return "order: " + event.reason;
  const std::string name = printable(event.key) + (event.key_truncated ? "..." : "") + " (db " +
                           std::to_string(event.db) + ")";
  if (event.order) return "order for " + name + ": " + event.reason;
  if (event.stale_read) return "stale read of " + name + ": " + event.reason;
  if (event.limit != Event::Limit::kNone)
    return name +
           (event.limit == Event::Limit::kBegan ? " is limited: " : " is no longer limited: ") +
           event.reason;
  std::string out = name + " is ";
  if (is_hot(event.before) && !is_hot(event.temperature))
    out += std::string("no longer ") + detect::to_string(event.before) + ", but ";
  return out + detect::to_string(event.temperature) + ": " + event.reason + relief_text(event);
}

void EventLog::add(std::span<const detect::Change> changes, std::size_t hot, TimePoint now,
                   const Reliefs& reliefs) {
  end_second(now);
  std::vector<Event> events;
  events.reserve(changes.size() + 1);
  for (const detect::Change& change : changes) {
    events.push_back(report::event_of(change, now));
    if (reliefs.of_key) events.back().relief = reliefs.of_key(change.verdict);
  }
  // Hot keys first: the number of lines per second is limited.
  std::stable_partition(events.begin(), events.end(), concerns_hot);
  // Once, when the last hot key has left.
  if (std::exchange(was_hot_, hot > 0) && hot == 0) {
    events.emplace_back();
    events.back().at = now;
    events.back().nothing_hot = true;
    if (reliefs.of_all) events.back().relief = reliefs.of_all();
    events.back().reason = quiet_;
  }
  for (Event& event : events) {
    write(event);
    keep(std::move(event));
  }
}

void EventLog::add_stale_read(std::string key, std::uint32_t db, std::string reason,
                              TimePoint now) {
  Event event;
  event.at = now;
  event.stale_read = true;
  event.key = std::move(key);
  event.db = db;
  event.reason = std::move(reason);
  log_limited(LogLevel::kError, "stale read",
              event_sentence(event) +
                  "; this is a bug: "
                  "turn its copies off with heatsink rule add 'match=KEY,level=off', and report it",
              now);
  keep(std::move(event));
}

void EventLog::add_outage(std::string reason, TimePoint now) {
  Event event;
  event.at = now;
  event.outage = true;
  event.reason = std::move(reason);
  log_limited(LogLevel::kWarning, "stale while error", event_sentence(event), now);
  keep(std::move(event));
}

void EventLog::add_limit(bool began, std::string key, std::uint32_t db, std::string reason,
                         TimePoint now) {
  end_second(now);
  Event event;
  event.at = now;
  event.limit = began ? Event::Limit::kBegan : Event::Limit::kEnded;
  event.key = std::move(key);
  event.db = db;
  event.reason = std::move(reason);
  write(event);
  keep(std::move(event));
}

void EventLog::add_order(std::string_view key, std::uint32_t db, std::string reason,
                         TimePoint now) {
  Event event;
  event.at = now;
  event.order = true;
  event.key = key.substr(0, detect::kKeyBytesMax);
  event.key_truncated = key.size() > detect::kKeyBytesMax;
  event.db = db;
  event.reason = std::move(reason);
  log(LogLevel::kInfo, event_sentence(event));
  keep(std::move(event));
}

void EventLog::add_config(Event::Config config, std::string reason, TimePoint now) {
  Event event;
  event.at = now;
  event.config = config;
  event.reason = std::move(reason);
  log(config == Event::Config::kRefused ? LogLevel::kError : LogLevel::kInfo,
      event_sentence(event));
  keep(std::move(event));
}

void EventLog::keep(Event event) {
  const bool is_heard = listener_ && concerns_hot(event);
  Event heard;
  {
    const std::lock_guard lock(mutex_);
    event.number = ++last_number_;
    if (is_heard) heard = event;
    std::deque<Event>& kept = concerns_hot(event) ? hot_ : others_;
    if (kept.size() == kEventsMax) kept.pop_front();
    kept.push_back(std::move(event));
  }
  if (is_heard) listener_(heard);
}

void EventLog::write(const Event& event) {
  const bool other = !concerns_hot(event);
  // Most changes are between warm and cold, and need no reader.
  const LogLevel level = other ? LogLevel::kDebug : LogLevel::kInfo;
  if (!is_logged(level)) return;
  // Half of the lines are reserved for keys that are or were hot.
  if (lines_ >= kLinesPerSecond || (other && other_lines_ >= kLinesPerSecond / 2)) {
    ++left_out_;
    return;
  }
  ++lines_;
  if (other) ++other_lines_;
  log(level, event_sentence(event));
}

void EventLog::end_second(TimePoint now) {
  if (now - second_began_ < std::chrono::seconds(1)) return;
  second_began_ = now;
  lines_ = other_lines_ = 0;
  if (left_out_ == 0) return;
  ++lines_;
  log(LogLevel::kInfo, "and " + std::to_string(std::exchange(left_out_, 0)) +
                           " more changes of keys; see GET /api/events for the latest");
}

std::size_t EventLog::memory_bytes() const {
  const std::lock_guard lock(mutex_);
  std::size_t bytes = 0;
  for (const std::deque<Event>* const events : {&hot_, &others_})
    for (const Event& event : *events)
      bytes += sizeof(Event) + event.key.size() + event.rule.size() + event.reason.size();
  return bytes;
}

std::vector<Event> EventLog::latest() const {
  const std::lock_guard lock(mutex_);
  std::vector<Event> out;
  out.reserve(hot_.size() + others_.size());
  std::merge(hot_.begin(), hot_.end(), others_.begin(), others_.end(), std::back_inserter(out),
             [](const Event& a, const Event& b) { return a.number < b.number; });
  return out;
}

}  // namespace heatsink::copies
