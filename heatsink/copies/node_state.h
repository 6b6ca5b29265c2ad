// SPDX-License-Identifier: Apache-2.0
// The state that the keeper and the workers of one proxy share: options, rules, and lock-free
// tables.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/cache/cache.h"
#include "heatsink/copies/hot_key_set.h"
#include "heatsink/copies/key_loads.h"
#include "heatsink/copies/policy_snapshot.h"
#include "heatsink/detect/detect.h"
#include "heatsink/fleet/fleet.h"
#include "heatsink/heat/heat.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/key_display.h"
#include "heatsink/policy/levels.h"
#include "heatsink/policy/limits.h"
#include "heatsink/policy/options.h"
#include "heatsink/policy/rules.h"
#include "heatsink/redis/redis.h"
#include "heatsink/topology/topology.h"

namespace heatsink::copies {

// What the hot table may hold under these options.
inline cache::HotTableLimits table_limits(const policy::ProxyOptions& options) {
  const auto part = [](Share share, double whole) { return share.part * whole; };
  const auto bytes = static_cast<double>(options.maximum_bytes.count);
  const auto entries = static_cast<double>(options.maximum_size);
  return {.entries_max = static_cast<std::size_t>(options.maximum_size),
          .bytes_max = options.maximum_bytes,
          .value_bytes_max = options.maximum_value_bytes,
          .nil_max = static_cast<std::size_t>(std::min(options.maximum_nil, options.maximum_size)),
          .retained_max = static_cast<std::size_t>(part(options.warm_share, entries)),
          .retained_bytes_max = Bytes{static_cast<std::uint64_t>(part(options.warm_share, bytes))}};
}

// Created before the threads, and outlives them. `upstream`, `seed` and `shown` never change. The
// rest of the configuration is a PolicySnapshot, which the keeper replaces (publish()). REQUIRES
// options without rule_faults().
struct NodeState {
  NodeState(const policy::ProxyOptions& options_in, net::RedisUrl upstream_in,
            std::uint64_t seed_in, policy::KeyDisplay shown_in = {},
            std::unique_ptr<fleet::ServerLimits> shared_limits_in = {})
      : upstream(std::move(upstream_in)),
        seed(seed_in),
        shown(std::move(shown_in)),
        shared_limits(following(std::move(shared_limits_in))),
        policy_(std::make_shared<const PolicySnapshot>(
            options_in, redis::Credentials{upstream.user, upstream.password}, shown, nullptr,
            shared_limits.get())),
        current_(policy_.get()),
        table(table_limits(options_in), epochs) {
    provide_admission();
    if (topology::must_be_found(upstream))
      upstream_address.withhold("which server is the master is not known yet");
  }

  const net::RedisUrl upstream;  // as configured; upstream_address is the server now
  const std::uint64_t seed;
  const policy::KeyDisplay shown;
  // The server that the copies come from. If it may move, the keeper follows it
  // (followed_servers.h); otherwise the keeper resolves its name again after a loss.
  redis::UpstreamAddress upstream_address{
      upstream, topology::is_watched(upstream) ? redis::UpstreamAddress::Resolved::kElsewhere
                                               : redis::UpstreamAddress::Resolved::kHere};
  // Limits with limit.scope: fleet; null: each process keeps them by itself.
  const std::unique_ptr<fleet::ServerLimits> shared_limits;
  // How many proxies add up their counts, rounded up; the workers count accordingly.
  std::atomic<std::uint64_t> fleet_instances{1};

 private:
  // The first policy opens limits.
  std::unique_ptr<fleet::ServerLimits> following(std::unique_ptr<fleet::ServerLimits> limits) {
    if (limits && topology::is_watched(upstream)) limits->follow(upstream_address);
    return limits;
  }

  mutable std::mutex policy_mutex_;  // guards policy_; the keeper and the workers do not take it
  std::shared_ptr<const PolicySnapshot> policy_;
  std::atomic<const PolicySnapshot*> current_;

 public:
  // The configuration now. Workers and the keeper: no lock, valid until the end of the thread's
  // turn. A second call in the same turn may return a newer one: to use an index of one part in
  // another, keep the reference.
  const PolicySnapshot& current() const { return *current_.load(); }
  // Any thread; it stays valid.
  std::shared_ptr<const PolicySnapshot> held() const {
    const std::lock_guard lock(policy_mutex_);
    return policy_;
  }
  // The keeper: `next` is current from now on. Frees the one before when no worker can look at it.
  void publish(std::shared_ptr<const PolicySnapshot> next) {
    const PolicySnapshot* const now = next.get();
    std::shared_ptr<const PolicySnapshot> before;
    {
      const std::lock_guard lock(policy_mutex_);
      before = std::exchange(policy_, std::move(next));
    }
    current_.store(now);
    provide_admission();
    epochs.retire([before = std::move(before)]() mutable { before.reset(); });
  }

  // Parts of current(), with the same lifetime.
  const policy::ProxyOptions& options() const { return current().options; }
  const detect::RuleSet& rules() const { return current().rules; }
  const std::vector<cache::ConsistencyPolicy>& consistency() const { return current().consistency; }
  const std::vector<policy::CopiesFor>& copies_for() const { return current().copies_for; }
  const redis::Credentials& credentials() const { return current().credentials; }
  // Whether a new connection can have the proxy's login: there is a password, or none is asked.
  bool may_log_in() const {
    return credentials().given() || upstream_open.load(std::memory_order_relaxed);
  }
  // A client that logs in as this user may use connections with the proxy's login.
  bool is_own_login(std::string_view user) const {
    return user == credentials().acl_user() && may_log_in();
  }
  policy::Limits* limits() const { return current().limits.get(); }  // null: no limits

  // The consistency of a key's copies. For a truncated name (`is_whole` false) see RuleSet::of().
  const cache::ConsistencyPolicy& consistency_of(std::string_view key, bool is_whole = true) const {
    const PolicySnapshot& policy = current();
    return policy.consistency[policy.rule_of(key, is_whole)];
  }
  std::size_t rule_of(std::string_view key, bool is_whole = true) const {
    return current().rule_of(key, is_whole);
  }

  bool refreshes_copies_of(std::string_view key) const {
    const PolicySnapshot& policy = current();
    return policy.refreshes[policy.rule_of(key)];
  }

  // For each connection of the keeper to the server.
  redis::ServerConnectionOptions connection_options() {
    const policy::ProxyOptions& now = options();
    return {.connect_timeout = now.connect_timeout,
            .backoff_min = now.backoff_min,
            .backoff_max = now.backoff_max,
            .seed = seed,
            .commands = &own_commands,
            .writes = &own_writes};
  }

  // Null: only hot keys have got copies so far. Once made, it stays. The keeper makes it; a worker
  // looks at it when it starts, and when it adopts a configuration.
  std::unique_ptr<admit::AdmissionState> admission;

  cache::Epochs epochs;
  cache::ProofStates proofs;
  // The proof of a single server. In a cluster it is up while any node's is, and copies depend on
  // the nodes' proofs.
  cache::ProofState& proof = proofs[0];
  cache::HotTable table;
  cache::Fences fences{table};
  cache::KeptNames kept_names;  // by clients, in caches of their own

  // Commands that the proxy's own connections have sent to servers: all but those of the workers.
  std::atomic<std::uint64_t> own_commands{0};
  std::atomic<std::uint64_t> own_writes{0};  // system calls that sent them
  KeyLoads key_loads;
  heat::History heat;  // the keeper adds, the admin API reads

  // The names that the server remembers for the tracker. The keeper writes it.
  std::atomic<std::uint64_t> tracked_keys{0};

  std::atomic<std::uint64_t> clients{0};
  // Workers that are not at rest (docs/design/architecture.md, "At rest").
  std::atomic<std::uint32_t> workers_awake{0};
  // The workers' buffers: as measured last, about once a second.
  std::atomic<std::int64_t> buffers_bytes{0};
  // A client may run commands without AUTH. If the proxy itself has to log in, this stays false
  // until the server has said otherwise: no client gets in on the proxy's login.
  std::atomic<bool> upstream_open{!credentials().given()};

  // The server refuses a command whose keys are in several slots.
  std::atomic<bool> is_cluster_node{false};

  // Time of the last ACL change made through this proxy. Rights that the server proved then or
  // earlier count no longer.
  TimePoint rights_changed_at() const { return TimePoint(Nanos(rights_changed_at_.load())); }
  void rights_change(TimePoint now) {
    std::int64_t before = rights_changed_at_.load();
    const std::int64_t at = now.time_since_epoch().count();
    while (before < at && !rights_changed_at_.compare_exchange_weak(before, at)) {
    }
  }

  // How often the tracker has come up or been lost.
  std::atomic<std::uint64_t> contact_changes{0};

  // The nodes, if the upstream is a cluster. The keeper keeps it current.
  topology::ClusterDirectory cluster{upstream};
  topology::SlotCounts slot_counts;  // the workers count, in front of a cluster
  // What the masters say of the load of their slots. The keeper asks them while readers look.
  topology::SlotUsageBoard slot_usage;

  // For rules that read from replicas: the replicas, and the keys that are hot. The keeper keeps
  // both current.
  topology::ReplicaDirectory replicas;
  HotKeySet hot_keys;

  // For metrics: how often another server has become the upstream, and the Sentinels now.
  std::atomic<std::uint64_t> leader_changes{0};
  std::atomic<std::uint64_t> sentinels_known{0};
  std::atomic<std::uint64_t> sentinels_answering{0};

 private:
  void provide_admission() {
    const PolicySnapshot& policy = current();
    if (admission || !policy.has_paying_copies()) return;
    admission = std::make_unique<admit::AdmissionState>(
        static_cast<std::size_t>(policy.options.maximum_size));
  }

  std::atomic<std::int64_t> rights_changed_at_{0};
};

}  // namespace heatsink::copies
