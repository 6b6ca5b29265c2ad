// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/hotkeys_source.h"

#include <utility>

#include "heatsink/base/hash.h"
#include "heatsink/base/heartbeat_key.h"

namespace heatsink::observe {
namespace {

constexpr Nanos kAskKeysEvery = std::chrono::seconds(1);
constexpr std::string_view kSwitchedOff =
    "the server does not count hot keys: CONFIG SET hotkey-top-k 16 turns this on (at some cost "
    "for the server), 0 turns it off";

}  // namespace

HotkeysSource::HotkeysSource(HotkeysSourceOptions options)
    : options_(std::move(options)), pipeline_({.login = options_.login}), protocols_{&pipeline_} {}

void HotkeysSource::tick(TimePoint now) {
  if (started_at_ == TimePoint{}) started_at_ = now;
  if (state_ == SourceState::kFailed) return;
  pipeline_.tick(now);
  if (pipeline_.is_hopeless()) return give_up(pipeline_.trouble());
  if (!pipeline_.is_up() && !pipeline_.trouble().empty()) note_ = pipeline_.trouble();
  if (pipeline_.is_up() && !asking_ && now >= next_at_) ask(now);
}

void HotkeysSource::ask(TimePoint now) {
  asking_ = true;
  next_at_ = now + kAskKeysEvery;
  pipeline_.ask({"HOTKEYS", "GET"}, now, [this](const Result<resp::Value>& reply, TimePoint at) {
    asking_ = false;
    if (!reply) return;
    if (reply->is_error() && reply->text.find("disabled") != std::string::npos)
      return give_up(std::string(kSwitchedOff));
    if (reply->is_error()) return give_up(refusal("HOTKEYS", reply->text).message);
    take(*reply, at);
  });
}

void HotkeysSource::take(const resp::Value& reply, TimePoint now) {
  auto told = parse_hotkeys_reply(reply);
  if (!told)
    return give_up(
        "the server's reply to HOTKEYS is neither that of Redis 8.6 nor that of Valkey 9.2");
  note_.clear();
  const bool session_over = told->of_redis && !told->active;
  if (told->rows.empty() || session_over) {
    ++empty_;
    if (!start_refused_) start_session(now);
  }
  if (told->rows.empty()) return;
  empty_ = 0;
  latest_ = std::move(*told);
  std::erase_if(latest_.rows, [](const KeyRow& row) { return is_heartbeat_key(row.count.key); });
  state_ = SourceState::kRunning;
}

// Valkey has no HOTKEYS START: there a setting enables counting. A session that another client has
// started is used as it is.
void HotkeysSource::start_session(TimePoint now) {
  const std::string seconds =
      std::to_string(std::chrono::duration_cast<std::chrono::seconds>(kSession).count());
  pipeline_.ask(
      {"HOTKEYS", "START", "METRICS", "2", "CPU", "NET", "COUNT", "64", "DURATION", seconds}, now,
      [this](const Result<resp::Value>& reply, TimePoint at) {
        if (!reply || !reply->is_error()) return;
        start_refused_ = reply->text.find("progress") == std::string::npos;
        if (start_refused_) ask_setting(at);
      });
}

void HotkeysSource::ask_setting(TimePoint now) {
  pipeline_.ask(
      {"CONFIG", "GET", "hotkey-top-k"}, now, [this](const Result<resp::Value>& reply, TimePoint) {
        const bool off = reply && reply->items.size() == 2 && reply->items[1].text == "0";
        const bool unknown = !reply || reply->items.empty();
        if (off)
          give_up(std::string(kSwitchedOff));
        else if (unknown)
          give_up("the server does not count hot keys, and this user has no right to turn it on");
        else
          note_ = "nothing yet: the server's first window is not complete";
      });
}

void HotkeysSource::give_up(std::string why) {
  state_ = SourceState::kFailed;
  note_ = std::move(why);
  pipeline_.end();
}

Observation HotkeysSource::observe(TimePoint now) {
  Observation out;
  std::vector<KeyRow> rows = latest_.rows;
  double sum = 0;
  for (KeyRow& row : rows) {
    row.count.hash = in_db(hash_name(row.count.key, options_.seed), row.count.db);
    if (row.dimension == detect::Dimension::kRequests) sum += row.rate.rate;
  }
  const Nanos watched = std::max<Nanos>(now - started_at_, Millis(1));
  out.report =
      make_report(std::move(rows), {.requests_rate = sum}, options_.server, watched, watched, now);
  out.report.upstream_up = pipeline_.is_up();
  out.facts.name = "hotkeys";
  out.facts.cost = "the server counts; heatsink asks it once a second";
  out.facts.blind_spots =
      latest_.of_redis
          ? "access rates (it reports CPU time and bytes); reads and writes; clients; databases"
          : "reads and writes; clients; traffic of keys that are not listed (shares count only the "
            "listed ones)";
  out.facts.confidence = "sampled by the server, without bounds";
  out.state = state_;
  out.note = note_;
  out.trouble = pipeline_.trouble();
  return out;
}

}  // namespace heatsink::observe
