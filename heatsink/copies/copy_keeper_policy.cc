// SPDX-License-Identifier: Apache-2.0
// The keeper's part of a change of the configuration: publishes it, and makes what it keeps follow
// it, without dropping a copy that need not go.
#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "heatsink/copies/copy_keeper.h"
#include "heatsink/copies/keeper_options.h"

namespace heatsink::copies {

void CopyKeeper::adopt(std::shared_ptr<const PolicySnapshot> next, std::function<void()> done) {
  loop_.post([this, next = std::move(next), done = std::move(done)] {
    wake();
    const std::shared_ptr<const PolicySnapshot> before = shared_.held();
    const TimePoint now = loop_.clock();
    // Tokens that a worker takes from the old limits after this moment count there only: at most
    // those of its turn.
    if (next->limits && before->limits) next->limits->take_over(*before->limits, now);
    // While copies are off, writes raise no fences. So copies, and fills that are under way, end
    // before the first such write; and those that were under way then may not be joined afterwards.
    if (before->options.cache_enabled != next->options.cache_enabled) shared_.fences.raise_all(now);
    shared_.publish(next);
    adopt_detection(*before);
    adopt_automatic_limits(*before, now);
    adopt_copies(*before, now);
    adopt_connections(*before);
    adopt_timers(next->options);
    if (replicas_ != nullptr) adopt_replicas();
    done();
  });
}

void CopyKeeper::add_config_event(report::Event::Config config, std::string reason) {
  loop_.post([this, config, reason = std::move(reason)]() mutable {
    events_.add_config(config, std::move(reason), loop_.now());
  });
}

// Summaries of measures that stay are kept: workers replace them at their next tick.
void CopyKeeper::adopt_detection(const PolicySnapshot& before) {
  const PolicySnapshot& next = shared_.current();
  const auto known = before.rules.measures();
  const auto workers = static_cast<std::size_t>(next.options.workers);
  std::vector<std::vector<detect::Summary>> summaries;
  for (const detect::Measure& measure : next.rules.measures()) {
    const auto same = std::find(known.begin(), known.end(), measure);
    if (same == known.end()) {
      summaries.emplace_back(workers);
    } else {
      summaries.push_back(std::move(summaries_[static_cast<std::size_t>(same - known.begin())]));
    }
  }
  summaries_ = std::move(summaries);
  merged_.clear();
  for (const std::vector<detect::Summary>& each : summaries_)
    merged_.push_back(detect::merge(each, kMergedKeys));
  selector_.reconfigure(policy::selector_options(next.options, next.rules));
  alone_as_ = static_cast<std::uint64_t>(next.options.fleet_size);
  fleet_list_ = nullptr;
  fleet_windows_.clear();
  events_.set_quiet(policy::quiet_sentence(next.options));
}

void CopyKeeper::adopt_automatic_limits(const PolicySnapshot& before, TimePoint now) {
  const double qps = shared_.options().automatic_qps;
  automatic_.set_qps(qps);
  if (qps > 0) return;
  for (const policy::AutomaticLimits::Change& change : automatic_.end_all()) {
    events_.add_limit(false, shared_.shown.show(change.key), change.db,
                      "limits.automatic-qps is off (it was " +
                          std::to_string(std::llround(before.options.automatic_qps)) + ")",
                      now);
  }
}

// What a key's copies may do from now on; nothing: it may have none.
std::optional<cache::ConsistencyPolicy> CopyKeeper::consistency_now(
    const cache::Entry& entry) const {
  const PolicySnapshot& policy = shared_.current();
  const std::size_t rule = policy.rule_of(entry.key());
  const bool is_allowed =
      policy.options.cache_enabled && policy.consistency[rule].level != cache::Level::kOff &&
      (policy.copies_for[rule] == policy::CopiesFor::kWhatPays ||
       (policy.copies_for[rule] == policy::CopiesFor::kHotKeys && entry.stays()) || entry.pinned());
  if (!is_allowed) return std::nullopt;
  return policy.consistency[rule];
}

void CopyKeeper::adopt_copies(const PolicySnapshot& before, TimePoint now) {
  const policy::ProxyOptions& options = shared_.options();
  // First, so that no pinned key leaves the table behind the warmer's back.
  warmer_.end_forbidden();
  if (options.warming != before.options.warming) {
    plans_.end_all(warmer_, searches_);
    plans_ = WarmPlans(options.warming);
    // At once: keys that the new list has, too, keep their copies.
    plans_.look(std::chrono::system_clock::now(), now, warmer_, searches_);
  }
  shared_.table.set_policies([this](const cache::Entry& entry) { return consistency_now(entry); });
  shared_.table.set_limits(table_limits(options));
  if (options.expire_after_write < before.options.expire_after_write)
    shared_.table.drop_longer_lived(options.expire_after_write);
  if (options.acl_staleness < before.options.acl_staleness && !source().rights_known())
    shared_.table.drop_longer_lived(options.acl_staleness);
  apply_warming_changes(now);
  if (chooser_) {
    chooser_->adopt(chooser_options(options));
  } else if (shared_.admission) {
    chooser_.emplace(chooser_options(options), *shared_.admission, shared_.table);
    chooser_->set_server_scale(server_cpu_.scale());
  }
}

void CopyKeeper::adopt_connections(const PolicySnapshot& before) {
  tracker_.set_options(tracker_options(shared_));
  tracker_connection_.set_options(shared_.connection_options());
  nodes_.options_changed();
  // Another password may be the one that the server accepts.
  const redis::Credentials& credentials = shared_.credentials();
  if (credentials.password != before.credentials.password) {
    tracker_connection_.retry();
    nodes_.trackers().retry();
  }
  if (fleet_) fleet_->set_credentials(credentials.user, credentials.password);
  audit_reader_.options_changed();
}

void CopyKeeper::adopt_timers(const policy::ProxyOptions& options) {
  timers_.change(periods_.heartbeat, options.heartbeat_interval / 2);
  timers_.change(periods_.filler, options.acl_staleness / 4);
  timers_.change(periods_.access, options.acl_staleness / 2);
  timers_.change(periods_.refresh, options.refresh_interval);
  if (options.detection_enabled) timers_.change(periods_.hot_keys, options.tick);
}

}  // namespace heatsink::copies
