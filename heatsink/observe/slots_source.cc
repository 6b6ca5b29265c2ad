// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/slots_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "heatsink/base/heartbeat_key.h"
#include "heatsink/observe/server_info.h"
#include "heatsink/report/report.h"

namespace heatsink::observe {
namespace {

constexpr Nanos kAskSlotsEvery = std::chrono::seconds(1);
constexpr Nanos kListEvery = std::chrono::seconds(5);

}  // namespace

SlotsSource::SlotsSource(MonitorSourceOptions options)
    : server_(options.server), pipeline_({.login = options.login}), monitor_(std::move(options)) {
  protocols_.push_back(&pipeline_);
  for (ServerProtocol* each : monitor_.protocols()) protocols_.push_back(each);
}

void SlotsSource::tick(TimePoint now) {
  if (started_at_ == TimePoint{}) started_at_ = now;
  if (state_ == SourceState::kFailed) return;
  pipeline_.tick(now);
  if (pipeline_.is_hopeless()) return give_up(pipeline_.trouble());
  if (!pipeline_.is_up() && !pipeline_.trouble().empty()) note_ = pipeline_.trouble();
  if (pipeline_.is_up() && !asking_ && now >= next_at_) ask_stats(now);
  if (drilling_) monitor_.tick(now);
}

void SlotsSource::ask_stats(TimePoint now) {
  asking_ = true;
  next_at_ = now + kAskSlotsEvery;
  pipeline_.ask({"CLUSTER", "SLOT-STATS", "SLOTSRANGE", "0", "16383"}, now,
                [this](const Result<resp::Value>& reply, TimePoint at) {
                  asking_ = false;
                  if (!reply) return;
                  if (reply->is_error() && reply->text.find("cluster support") != std::string::npos)
                    return give_up("the server is not a cluster node, so it has no slots");
                  if (reply->is_error())
                    return give_up(refusal("CLUSTER SLOT-STATS", reply->text).message +
                                   " (Valkey has it since 8.0, Redis since 8.2)");
                  take_stats(*reply, at);
                });
}

void SlotsSource::take_stats(const resp::Value& reply, TimePoint now) {
  auto stats = topology::parse_slot_stats(reply);
  if (!stats) return give_up("the server's reply to CLUSTER SLOT-STATS is malformed");
  if (!stats->slots.empty() && !stats->has_work)
    return give_up("the server does not count work per slot; this turns it on: " +
                   std::string(topology::kTurnSlotStatsOn));
  note_.clear();
  if (before_) {
    const double seconds = std::chrono::duration<double>(now - before_->at).count();
    load_ = topology::load_between(before_->stats, *stats, seconds);
  }
  before_ = Asked{std::move(*stats), now};
  if (load_.empty()) return;
  drilling_ = drilling_ || load_.front().cpu_share >= kHotSlotShare;
  const Observation seen = monitor_.observe(now);
  const bool forbidden = seen.state == SourceState::kFailed;
  if (forbidden) list_keys(now);
  if (!drilling_ || forbidden || seen.state != SourceState::kStarting)
    state_ = SourceState::kRunning;
}

void SlotsSource::list_keys(TimePoint now) {
  if (listing_ || now < next_list_at_) return;
  if (!settings_) ask_settings(now);
  listing_ = true;
  next_list_at_ = now + kListEvery;
  const std::uint16_t slot = load_.front().slot;
  pipeline_.ask({"CLUSTER", "GETKEYSINSLOT", std::to_string(slot), std::to_string(kKeysListed)},
                now, [this, slot](const Result<resp::Value>& reply, TimePoint at) {
                  listing_ = false;
                  if (!reply) return;
                  if (reply->is_error()) {
                    why_no_keys_ = refusal("CLUSTER GETKEYSINSLOT", reply->text).message;
                    return;
                  }
                  listed_slot_ = slot;
                  ask_counters(reply->items, at);
                });
}

// Where CONFIG is forbidden, the source assumes the default settings.
void SlotsSource::ask_settings(TimePoint now) {
  settings_.emplace();
  const auto take = [this](double LfuSettings::*into) {
    return [this, into](const Result<resp::Value>& reply, TimePoint) {
      if (!reply || reply->items.size() != 2) return;
      if (const auto value = number_in(reply->items[1].text)) (*settings_).*into = *value;
    };
  };
  pipeline_.ask({"CONFIG", "GET", "lfu-log-factor"}, now, take(&LfuSettings::log_factor));
  pipeline_.ask({"CONFIG", "GET", "lfu-decay-time"}, now, take(&LfuSettings::decay_minutes));
}

void SlotsSource::ask_counters(const std::vector<resp::Value>& keys, TimePoint now) {
  listing_now_.clear();
  const std::size_t count = std::min(keys.size(), kKeysListed);
  if (count == 0) listed_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    pipeline_.ask({"OBJECT", "FREQ", keys[i].text}, now,
                  [this, count, key = keys[i].text](const Result<resp::Value>& reply, TimePoint) {
                    Listed row{key, std::nullopt};
                    if (reply && reply->type == resp::Value::Type::kInteger)
                      row.counter =
                          static_cast<int>(std::clamp<std::int64_t>(reply->integer, 0, kLfuMost));
                    listing_now_.push_back(std::move(row));
                    if (listing_now_.size() == count) listed_ = std::move(listing_now_);
                  });
  }
}

std::vector<KeyRow> SlotsSource::listed_rows() const {
  std::vector<KeyRow> rows;
  for (const Listed& listed : listed_) {
    if (is_heartbeat_key(listed.key)) continue;
    KeyRow row;
    row.count.key = listed.key.substr(0, detect::kKeyBytesMax);
    row.count.key_truncated = listed.key.size() > detect::kKeyBytesMax;
    row.reason = fmt::format("one of the keys in slot {}", listed_slot_);
    if (listed.counter) {
      row.rate = lfu_rate(*listed.counter, settings_.value_or(LfuSettings()));
      row.reason += fmt::format(", counter {} of 255", *listed.counter);
    }
    row.share = std::numeric_limits<double>::quiet_NaN();
    rows.push_back(std::move(row));
  }
  return rows;
}

void SlotsSource::give_up(std::string why) {
  state_ = SourceState::kFailed;
  note_ = std::move(why);
  pipeline_.end();
}

std::string SlotsSource::slots_text() const {
  std::string out;
  for (std::size_t i = 0; i < std::min(load_.size(), kSlotsShown); ++i) {
    if (load_[i].cpu_share <= 0) break;
    out += fmt::format("{}{} {:.1f} % ({:.0f} keys)", out.empty() ? "slots by CPU time: " : ", ",
                       load_[i].slot, 100 * load_[i].cpu_share, load_[i].keys);
  }
  return out;
}

bool SlotsSource::is_hot_slot(std::uint16_t slot) const {
  return std::ranges::any_of(load_, [slot](const topology::SlotLoad& each) {
    return each.slot == slot && each.cpu_share >= kHotSlotShare;
  });
}

Observation SlotsSource::observe(TimePoint now) {
  Observation out = monitor_.observe(now);
  std::erase_if(out.report.keys, [this](const report::KeyReport& key) {
    return !is_hot_slot(resp::key_slot(key.verdict.count.key));
  });
  out.report.absent_max.reset();  // a busier key may be in another slot
  if (out.report.keys.empty() && !listed_.empty()) {
    out.report = make_report(listed_rows(), {}, server_, Millis(1), now - started_at_, now);
    out.interval.reset();
  }
  for (std::size_t i = 0; i < std::min(load_.size(), kSlotsTold); ++i)
    out.slots.push_back({load_[i].slot, load_[i].keys, load_[i].cpu_share, load_[i].bytes_rate});
  out.report.upstream_up = pipeline_.is_up();
  out.facts.cost = "CLUSTER SLOT-STATS once a second; for the keys of hot slots: " + out.facts.cost;
  out.facts.name = "slots";
  out.facts.blind_spots = "keys of slots below 5 % of the CPU time; " + out.facts.blind_spots;
  out.state = state_;
  out.note = note_.empty() ? slots_text() : note_;
  out.trouble = pipeline_.trouble();
  if (out.report.keys.empty() && !why_no_keys_.empty()) out.note += "; no keys: " + why_no_keys_;
  return out;
}

}  // namespace heatsink::observe
