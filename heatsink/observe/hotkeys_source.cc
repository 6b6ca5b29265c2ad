// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/hotkeys_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/base/heartbeat_key.h"
#include "heatsink/observe/rows.h"
#include "heatsink/resp/resp.h"

namespace heatsink::observe {
namespace {

bool is_list(const resp::Value& value) {
  return value.type == resp::Value::Type::kArray || value.type == resp::Value::Type::kMap;
}

using resp::Value;

double number_of(const Value* value) {
  if (value == nullptr) return 0;
  if (value->type == Value::Type::kInteger)
    return static_cast<double>(std::max<std::int64_t>(value->integer, 0));
  double number = 0;
  std::from_chars(value->text.data(), value->text.data() + value->text.size(), number);
  return number > 0 ? number : 0;
}

KeyRow row_of(const std::string& key, double db) {
  KeyRow row;
  row.count.key = key.substr(0, detect::kKeyBytesMax);
  row.count.key_truncated = key.size() > detect::kKeyBytesMax;
  row.count.db = static_cast<std::uint32_t>(std::min(db, 1e6));
  return row;
}

HotkeysReply of_valkey(const Value& reply) {
  HotkeysReply out;
  for (const Value& entry : reply.items) {
    const Value* key = is_list(entry) ? entry.find("key") : nullptr;
    if (key == nullptr || out.rows.size() == kRowsMax) continue;
    KeyRow row = row_of(key->text, number_of(entry.find("db")));
    const double qps = number_of(entry.find("qps"));
    row.rate = {qps, qps, qps};
    row.reason = "the server's own estimate";
    out.rows.push_back(std::move(row));
  }
  return out;
}

struct Parts {
  double cpu_us = 0, bytes = 0;
};

void take_list(const Value* list, double Parts::*part, std::map<std::string, Parts>& out) {
  if (list == nullptr || !is_list(*list)) return;
  for (std::size_t i = 0; i + 1 < list->items.size(); i += 2)
    out[list->items[i].text].*part = number_of(&list->items[i + 1]);
}

HotkeysReply of_redis(const Value& table) {
  HotkeysReply out;
  out.of_redis = true;
  out.active = number_of(table.find("tracking-active")) > 0;
  out.seconds = number_of(table.find("collection-duration-ms")) / 1e3;
  // A session of another client may sample one command in N. heatsink's own session takes each
  // command.
  const double sampled = std::max(number_of(table.find("sample-ratio")), 1.0);
  const double all_us = number_of(table.find("all-commands-all-slots-us"));
  const double all_bytes = number_of(table.find("net-bytes-all-commands-all-slots"));
  std::map<std::string, Parts> parts;
  take_list(table.find("by-cpu-time-us"), &Parts::cpu_us, parts);
  take_list(table.find("by-net-bytes"), &Parts::bytes, parts);
  for (const auto& [key, part] : parts) {
    if (out.rows.size() == kRowsMax) break;
    KeyRow row = row_of(key, 0);
    const double rate = out.seconds > 0 ? sampled * part.bytes / out.seconds : 0;
    row.rate = {rate, rate, rate};
    row.dimension = detect::Dimension::kBytes;
    const double cpu = all_us > 0 ? std::min(sampled * part.cpu_us / all_us, 1.0) : 0;
    const double net = all_bytes > 0 ? std::min(sampled * part.bytes / all_bytes, 1.0) : 0;
    row.share = std::max(cpu, net);
    row.reason = fmt::format("{:.1f} % of the CPU time of commands, {:.1f} % of their bytes",
                             100 * cpu, 100 * net);
    out.rows.push_back(std::move(row));
  }
  return out;
}

// Nothing if the reply has neither form. A null or an empty list means that nothing was counted,
// and gives no rows. At most kRowsMax rows.
std::optional<HotkeysReply> parse_hotkeys_reply(const Value& reply) {
  if (reply.type == Value::Type::kNull) return HotkeysReply();
  if (!is_list(reply)) return std::nullopt;
  if (reply.items.empty()) return HotkeysReply();
  if (reply.find("tracking-active") != nullptr) return of_redis(reply);
  // Redis wraps the table in a list with one element.
  if (reply.items.size() == 1 && is_list(reply.items[0]) &&
      reply.items[0].find("tracking-active") != nullptr)
    return of_redis(reply.items[0]);
  if (!is_list(reply.items[0]) || reply.items[0].find("key") == nullptr) return std::nullopt;
  return of_valkey(reply);
}

constexpr Nanos kAskKeysEvery = std::chrono::seconds(1);
constexpr std::string_view kSwitchedOff =
    "the server does not count hot keys: "
    "CONFIG SET hotkey-top-k 16 turns this on (at some cost for the server), 0 turns it off";

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
          : "reads and writes; clients; "
            "traffic of keys that are not listed (shares count only the listed ones)";
  out.facts.confidence = "sampled by the server, without bounds";
  out.state = state_;
  out.note = note_;
  out.trouble = pipeline_.trouble();
  return out;
}

}  // namespace heatsink::observe
