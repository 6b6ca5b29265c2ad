// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/lfu_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/base/heartbeat_key.h"
#include "heatsink/base/printable.h"
#include "heatsink/detect/detect.h"
#include "heatsink/observe/server_info.h"

namespace heatsink::observe {
namespace {

constexpr std::string_view kDigits = "0123456789abcdef";

std::string to_hex(std::string_view bytes) {
  if (bytes.empty()) return "-";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out;
}

// Nothing if the text cannot come from to_hex().
std::optional<std::string> from_hex(std::string_view text) {
  if (text == "-") return std::string();
  if (text.empty() || text.size() % 2 != 0) return std::nullopt;
  std::string out;
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const std::size_t high = kDigits.find(text[i]);
    const std::size_t low = kDigits.find(text[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos) return std::nullopt;
    out += static_cast<char>(high * 16 + low);
  }
  return out;
}

constexpr Nanos kKeepEvery = std::chrono::seconds(1);
constexpr std::string_view kHeader = "heatsink-lfu-scan-2";

constexpr std::string_view kNoSlots = "-";

constexpr std::string_view kSetPolicy =
    "the server's maxmemory-policy is not LFU, so it counts no accesses. "
    "CONFIG SET maxmemory-policy allkeys-lfu starts the count, without earlier accesses. "
    "It also changes eviction: when maxmemory is reached, "
    "the server evicts the least used keys (volatile-lfu: only those with a TTL)";

double number_or(const std::string& text, double otherwise) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size() ? value : otherwise;
}

}  // namespace

LfuSource::LfuSource(LfuSourceOptions options)
    : options_(std::move(options)), pipeline_({.login = options_.login}), protocols_{&pipeline_} {}

void LfuSource::tick(TimePoint now) {
  if (started_at_ == TimePoint{}) started_at_ = now;
  if (state_ == SourceState::kFinished || state_ == SourceState::kFailed) return;
  pipeline_.tick(now);
  if (pipeline_.is_hopeless()) return give_up(pipeline_.trouble());
  if (!pipeline_.is_up()) {
    selected_ = false;
    if (!pipeline_.trouble().empty()) note_ = pipeline_.trouble();
    return;
  }
  if (!asked_) return ask_settings(now);
  if (state_ == SourceState::kRunning && !busy_ && now >= next_at_) ask_batch(now);
}

void LfuSource::ask_setting(std::string_view name, TimePoint now,
                            std::function<void(const std::string&)> take) {
  pipeline_.ask({"CONFIG", "GET", name}, now,
                [this, take = std::move(take)](const Result<resp::Value>& reply, TimePoint) {
                  const bool told = reply && reply->items.size() == 2;
                  if (told) take(reply->items[1].text);
                  settings_known_ = settings_known_ && told;
                });
}

// Where CONFIG is forbidden, the defaults are assumed and `note` says so. The list of databases is
// asked for last, because its reply starts the scan.
void LfuSource::ask_settings(TimePoint now) {
  asked_ = true;
  note_.clear();
  ask_setting("maxmemory-policy", now, [this](const std::string& value) { policy_ = value; });
  ask_setting("lfu-log-factor", now, [this](const std::string& value) {
    settings_.log_factor = number_or(value, settings_.log_factor);
  });
  ask_setting("lfu-decay-time", now, [this](const std::string& value) {
    settings_.decay_minutes = number_or(value, settings_.decay_minutes);
  });
  pipeline_.ask({"INFO", "memory"}, now, [this](const Result<resp::Value>& reply, TimePoint) {
    // INFO memory also has the policy, where CONFIG is forbidden.
    if (reply && policy_.empty()) policy_ = info_field(reply->text, "maxmemory_policy");
  });
  pipeline_.ask({"INFO", "cluster"}, now, [this](const Result<resp::Value>& reply, TimePoint) {
    if (reply && info_field(reply->text, "cluster_enabled") == "1" && !slots_) slots_.emplace();
  });
  pipeline_.ask({"INFO", "keyspace"}, now, [this](const Result<resp::Value>& reply, TimePoint at) {
    if (!reply) return lose(reply.error());
    take_keyspace(reply->text);
    begin_scan(at);
  });
}

// "db0:keys=1000,expires=0,avg_ttl=0"
void LfuSource::take_keyspace(const std::string& info) {
  databases_.clear();
  constexpr std::uint32_t kDatabasesMax = 1024;
  for (std::uint32_t db = 0; options_.all_databases && db < kDatabasesMax; ++db) {
    const std::string_view field = info_field(info, "db" + std::to_string(db));
    const std::size_t comma = field.find(',');
    if (!field.starts_with("keys=") || comma == std::string_view::npos) continue;
    databases_.push_back({db, number_or(std::string(field.substr(5, comma - 5)), 0)});
  }
  if (databases_.empty()) databases_.push_back({options_.db, 0});
}

void LfuSource::begin_scan(TimePoint now) {
  if (!policy_.empty() && policy_.find("lfu") == std::string::npos)
    return give_up(std::string(kSetPolicy) + " (now: " + printable(policy_, 40) + ")");
  const bool is_new = options_.resume_from.empty();
  if (!is_new && !restore(std::exchange(options_.resume_from, "")))
    return give_up(
        "the --resume file is not a saved scan of this server: give another file, or remove it");
  state_ = SourceState::kRunning;
  next_at_ = kept_at_ = now;
  ask_first_key(now);
  if (is_new) looked_ = Interval{now, now};
}

// Another node of a cluster may have the key, and a user may forbid it: the scan goes on without
// it.
void LfuSource::ask_first_key(TimePoint now) {
  if (!options_.first_key) return;
  std::size_t asked = 0;
  for (const Database& database : databases_) {
    if (options_.first_db && database.number != *options_.first_db) continue;
    if (asked++ == kFirstDatabasesMax) break;
    pipeline_.ask({"SELECT", std::to_string(database.number)}, now,
                  [](const Result<resp::Value>&, TimePoint) {});
    pipeline_.ask({"OBJECT", "FREQ", *options_.first_key}, now,
                  [this, db = database.number](const Result<resp::Value>& reply, TimePoint) {
                    take_first_counter(db, reply);
                  });
  }
}

void LfuSource::take_first_counter(std::uint32_t db, const Result<resp::Value>& reply) {
  if (!reply || reply->type != resp::Value::Type::kInteger) return;
  const auto value = static_cast<int>(std::clamp<std::int64_t>(reply->integer, 0, kLfuMost));
  first_.push_back({value, db, *options_.first_key});
}

void LfuSource::ask_batch(TimePoint now) {
  busy_ = true;
  batch_cursor_ = cursor_;
  if (!selected_) {
    pipeline_.ask({"SELECT", std::to_string(databases_[at_].number)}, now,
                  [this](const Result<resp::Value>& reply, TimePoint) {
                    selected_ = reply && !reply->is_error();
                  });
  }
  pipeline_.ask({"SCAN", cursor_, "COUNT", std::to_string(kBatch)}, now,
                [this](const Result<resp::Value>& reply, TimePoint at) {
                  if (!reply) return lose(reply.error());
                  if (reply->is_error()) return give_up(refusal("SCAN", reply->text).message);
                  if (reply->items.size() != 2)
                    return give_up("the server's reply to SCAN is malformed");
                  take_batch(*reply, at);
                });
}

// SCAN may return more keys than COUNT while the server resizes its table; the batch is capped.
void LfuSource::take_batch(const resp::Value& reply, TimePoint now) {
  cursor_ = reply.items[0].text;
  const std::vector<resp::Value>& keys = reply.items[1].items;
  scanned_ += static_cast<double>(keys.size());
  // Each key costs the server one OBJECT FREQ; the SCAN itself counts as one more.
  const Nanos pause(static_cast<std::int64_t>(1e9 * static_cast<double>(keys.size() + 1) /
                                              options_.keys_per_second));
  next_at_ = std::max(next_at_, now) + pause;
  constexpr std::size_t kCountersMax = 4000;
  in_batch_ = std::min(keys.size(), kCountersMax);
  batch_.clear();
  if (in_batch_ == 0) return finish_batch(now);
  for (std::size_t i = 0; i < std::min(keys.size(), kCountersMax); ++i) {
    pipeline_.ask({"OBJECT", "FREQ", keys[i].text}, now,
                  [this, key = keys[i].text](const Result<resp::Value>& counter, TimePoint at) {
                    take_counter(key, counter, at);
                  });
  }
}

void LfuSource::take_counter(const std::string& key, const Result<resp::Value>& reply,
                             TimePoint now) {
  if (!reply) return lose(reply.error());
  if (state_ != SourceState::kRunning) return;
  if (reply->is_error() && reply->text.find("LFU") != std::string::npos)
    return give_up(std::string(kSetPolicy));
  if (reply->is_error() && !reply->text.starts_with("NOPERM"))
    return give_up(refusal("OBJECT FREQ", reply->text).message);
  if (reply->is_error()) note_ = refusal("OBJECT FREQ of some keys", reply->text).message;
  if (looked_) looked_->until = now;
  if (reply->type == resp::Value::Type::kInteger) {
    const auto value = static_cast<int>(std::clamp<std::int64_t>(reply->integer, 0, kLfuMost));
    keep_best({value, databases_[at_].number, key});
    if (slots_) batch_.emplace_back(resp::key_slot(key), value);
  }
  if (--in_batch_ == 0) finish_batch(now);
}

void LfuSource::finish_batch(TimePoint now) {
  busy_ = false;
  if (slots_) {
    for (const auto& [slot, counter] : batch_) slots_->add(slot, counter);
  }
  batch_.clear();
  if (cursor_ == "0") next_database(now);
  if (state_ != SourceState::kRunning || !options_.keep || now - kept_at_ < kKeepEvery) return;
  kept_at_ = now;
  options_.keep(saved());
}

void LfuSource::next_database(TimePoint /*now*/) {
  selected_ = false;
  if (++at_ < databases_.size()) return;
  state_ = SourceState::kFinished;
  pipeline_.end();
  if (options_.keep) options_.keep("");
}

void LfuSource::keep_best(Candidate candidate) {
  // The proxies' own key is hot by design and would displace a user's key.
  if (is_heartbeat_key(candidate.key)) return;
  if (best_.size() >= kKept && candidate.counter <= best_.back().counter) return;
  const auto same = [&](const Candidate& other) {  // SCAN may return a key twice
    return other.db == candidate.db && other.key == candidate.key;
  };
  std::erase_if(best_, same);
  const auto place = std::ranges::find_if(
      best_, [&](const Candidate& other) { return other.counter < candidate.counter; });
  best_.insert(place, std::move(candidate));
  if (best_.size() > kKept) best_.pop_back();
}

void LfuSource::give_up(std::string why) {
  state_ = SourceState::kFailed;
  note_ = std::move(why);
  pipeline_.end();
}

// After a reconnect the batch is asked for again.
void LfuSource::lose(const Error& why) {
  if (busy_) cursor_ = batch_cursor_;
  busy_ = selected_ = false;
  if (state_ == SourceState::kStarting) asked_ = false;
  if (state_ == SourceState::kStarting || state_ == SourceState::kRunning) note_ = why.message;
}

std::string LfuSource::saved() const {
  std::string out = fmt::format("{} {} {} {} {:.0f}\n", kHeader, to_hex(options_.server),
                                databases_[at_].number, cursor_, scanned_);
  out += slots_ ? slots_->saved() : fmt::format("{}\n", kNoSlots);
  for (const Candidate& key : best_)
    out += fmt::format("{} {} {}\n", key.counter, key.db, to_hex(key.key));
  return out;
}

// Partial sums would look like complete ones. So a scan resumes only if the earlier run kept slots
// exactly when this server has them; else it begins again.
bool LfuSource::restore_slots(std::istream& in) {
  if (slots_) return slots_->restore(in);
  std::string none;
  return in >> none && none == kNoSlots;
}

bool LfuSource::restore(std::string_view text) {
  std::istringstream in{std::string(text)};
  std::string header, server, cursor;
  std::uint32_t db = 0;
  double scanned = 0;
  if (!(in >> header >> server >> db >> cursor >> scanned) || header != kHeader ||
      from_hex(server) != options_.server)
    return false;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (cursor.size() > 20 || !std::ranges::all_of(cursor, is_digit)) return false;
  const auto at = std::ranges::find(databases_, db, &Database::number);
  if (at == databases_.end()) return false;
  if (!restore_slots(in)) return false;
  at_ = static_cast<std::size_t>(at - databases_.begin());
  cursor_ = cursor;
  scanned_ = scanned;
  Candidate key;
  for (std::string name; best_.size() < kKept && in >> key.counter >> key.db >> name;) {
    const auto bytes = from_hex(name);
    if (!bytes) return false;
    keep_best({std::clamp(key.counter, 0, kLfuMost), key.db, *bytes});
  }
  return true;
}

SourceFacts LfuSource::facts() const {
  SourceFacts out;
  out.name = "lfu";
  out.cost = fmt::format("SCAN and OBJECT FREQ of at most {:.0f} keys/s", options_.keys_per_second);
  out.blind_spots = fmt::format(
      "differences between rates above {:.0f}/s; "
      "the last minutes (keys that were hot before still show); reads and writes; clients",
      lfu_rate(kLfuMost, settings_).rate);
  out.confidence = fmt::format(
      "in the {:g} min before heatsink read its counter, no key exceeded its upper bound (99 %); "
      "there are no lower bounds (lfu-log-factor {:g}, lfu-decay-time {:g} min{})",
      settings_.decay_minutes, settings_.log_factor, settings_.decay_minutes,
      settings_known_ ? "" : ": assumed, CONFIG GET is forbidden");
  return out;
}

// Bounds keys that exist, as far as counters can tell. While the scan runs, an unread key may have
// any rate.
std::optional<double> LfuSource::absent_max() const {
  if (state_ != SourceState::kFinished) return std::nullopt;
  const std::size_t listed = kRowsMax - first_.size();
  const int counter = best_.size() > listed ? best_[listed].counter : 0;
  const double high = lfu_rate(counter, settings_).high;
  return std::isfinite(high) ? std::optional(high) : std::nullopt;
}

KeyRow LfuSource::row_of(const Candidate& key) const {
  KeyRow row;
  row.count.key = key.key.substr(0, detect::kKeyBytesMax);
  row.count.key_truncated = key.key.size() > detect::kKeyBytesMax;
  row.count.db = key.db;
  row.count.hash = in_db(hash_name(key.key, options_.seed), key.db);
  row.rate = lfu_rate(key.counter, settings_);
  row.reason = fmt::format("counter {} of 255: {:.0f} accesses if the key was new", key.counter,
                           lfu_accesses(key.counter, settings_));
  row.share = std::numeric_limits<double>::quiet_NaN();
  row.is_hot = key.counter == kLfuMost;
  return row;
}

// The best keys, of which the least make room for the first key.
std::vector<LfuSource::Candidate> LfuSource::listed() const {
  std::vector<Candidate> out = best_;
  for (const Candidate& key : first_) {
    std::erase_if(
        out, [&](const Candidate& other) { return other.db == key.db && other.key == key.key; });
  }
  if (!first_.empty() && out.size() > kRowsMax - first_.size())
    out.resize(kRowsMax - first_.size());
  out.insert(out.end(), first_.begin(), first_.end());
  return out;
}

double LfuSource::progress() const {
  double keys = 0;
  for (const Database& database : databases_) keys += database.keys;
  if (state_ == SourceState::kFinished) return 1;
  return keys > 0 ? std::min(scanned_ / keys, 1.0) : 0;
}

Observation LfuSource::observe(TimePoint now) {
  std::vector<KeyRow> rows;
  double sum = 0;
  for (const Candidate& key : listed()) {
    rows.push_back(row_of(key));
    sum += rows.back().rate.rate;
  }
  Observation out;
  const Nanos watched = std::max<Nanos>(now - started_at_, Millis(1));
  if (looked_ && settings_.decay_minutes > 0) {
    const Nanos of_a_counter(static_cast<std::int64_t>(60e9 * settings_.decay_minutes));
    out.interval = {looked_->since - of_a_counter, looked_->until};
  }
  out.report =
      make_report(std::move(rows), {.requests_rate = sum}, options_.server, watched, watched, now);
  out.report.hot_means =
      "a full counter (255); the other sources and a proxy ask for " + detect::automatic_words();
  out.report.quiet = "no counter is full: no key has more than a few dozen accesses per second";
  if (state_ != SourceState::kFinished)
    out.report.undecided = fmt::format(
        "no counter is full in the {:.1f} % of the keys scanned so far", 100 * progress());
  out.report.upstream_up = pipeline_.is_up() || state_ == SourceState::kFinished;
  out.report.absent_max = absent_max();
  out.facts = facts();
  if (slots_) out.slots = slots_->busiest(settings_);
  out.state = state_;
  out.note = note_;
  out.trouble = pipeline_.trouble();
  for (const Database& database : databases_) out.work += database.keys;
  out.progress = progress();
  return out;
}

}  // namespace heatsink::observe
