// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/hot_keys.h"

#include <algorithm>
#include <utility>

#include "heatsink/client/detect_options.h"
#include "heatsink/net/address.h"

namespace heatsink::client {
namespace {

// A client has one database, and its keys have no number of it; in the fleet they have.
std::uint32_t database_of(const ClientOptions& options) {
  if (options.server_url.empty()) return 0;
  return net::parse_upstream_url(options.server_url).value().db;
}

HotKeyInfo info_of(const detect::Verdict& verdict) {
  return {.key = verdict.count.key,
          .temperature = detect::to_string(verdict.temperature),
          .rate_low = verdict.rate_low,
          .rate_high = verdict.rate_high,
          .share = verdict.share,
          .reads = verdict.count.reads,
          .writes = verdict.count.writes,
          .hits = verdict.count.hits,
          .since = verdict.since,
          .reason = verdict.reason};
}

}  // namespace

HotKeys::HotKeys(const ClientOptions& options, std::uint64_t hash_seed)
    : options_(options),
      hash_seed_(hash_seed),
      database_(database_of(options)),
      rules_(rules_of(options)),
      selector_(selector_options(options, rules_)),
      alone_as_(options.fleet_size) {}

std::vector<detect::Change> HotKeys::update(detect::Summary counted) {
  const std::lock_guard lock(mutex_);
  const std::vector<detect::FleetWindow> fleet = fleet_windows();
  std::vector<detect::Change> changes = selector_.update({&counted, 1}, fleet);
  window_ = std::move(counted);
  return changes;
}

bool HotKeys::is_hot(KeyHash hash) const {
  const std::lock_guard lock(mutex_);
  const auto& verdicts = selector_.verdicts();
  return std::any_of(verdicts.begin(), verdicts.end(), [&](const detect::Verdict& verdict) {
    return verdict.count.hash == hash && verdict.temperature == detect::Temperature::kHot;
  });
}

std::vector<HotKeyInfo> HotKeys::top(std::size_t n) const {
  const std::lock_guard lock(mutex_);
  const auto& verdicts = selector_.verdicts();
  std::vector<HotKeyInfo> keys;
  for (std::size_t i = 0; i < std::min(n, verdicts.size()); ++i) {
    keys.push_back(info_of(verdicts[i]));
    keys.back().reason = selector_.reason_now(verdicts[i]);
  }
  return keys;
}

// ---- for the fleet

std::vector<detect::Summary> HotKeys::counted() const {
  std::vector<detect::Summary> counted;
  {
    const std::lock_guard lock(mutex_);
    if (window_.window > Nanos{}) counted.push_back(window_);
  }
  if (database_ == 0) return counted;
  for (detect::Summary& window : counted) {
    for (detect::KeyCount& key : window.keys) {
      key.db = database_;
      key.hash = in_db(hash_name(key.key, hash_seed_), database_);
    }
  }
  return counted;
}

fleet::Matters HotKeys::matters() const {
  return [rules = rules_](const detect::Measure& measure, std::uint64_t instances) {
    return fleet::matters_by(rules, kBurst, measure, instances);
  };
}

void HotKeys::set_fleet(const FleetState& state) {
  const std::lock_guard lock(mutex_);
  fleet_ = state;
}

// While the fleet is not known, this process goes on alone, with its part of the thresholds by the
// number of instances that was known last.
std::vector<detect::FleetWindow> HotKeys::fleet_windows() {
  if (!options_.fleet_enabled) return {};
  if (!fleet_.list) {
    const bool was_known = fleet_.instances > 1;
    judge_alone_as(was_known ? static_cast<std::int64_t>(fleet_.instances) : options_.fleet_size);
    return {};
  }
  judge_alone_as(1);
  std::vector<detect::FleetWindow> windows = fleet::windows_of(*fleet_.list, rules_.measures());
  std::vector<detect::KeyCount>& keys = windows.front().counts.keys;
  std::erase_if(keys, [this](const detect::KeyCount& key) { return key.db != database_; });
  for (detect::KeyCount& key : keys) {
    key.db = 0;
    key.hash = in_db(hash_name(key.key, hash_seed_), 0);
  }
  return windows;
}

void HotKeys::judge_alone_as(std::int64_t instances) {
  if (instances == alone_as_) return;
  alone_as_ = instances;
  ClientOptions options = options_;
  options.fleet_size = instances;
  selector_.reconfigure(selector_options(options, rules_of(options)));
}

}  // namespace heatsink::client
