// SPDX-License-Identifier: Apache-2.0
// The state that the keeper and the workers of one proxy share: options, rules, and lock-free
// tables.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/cache/cache.h"
#include "heatsink/detect/detect.h"
#include "heatsink/net/net.h"
#include "heatsink/policy/key_display.h"
#include "heatsink/policy/levels.h"
#include "heatsink/policy/limits.h"
#include "heatsink/policy/options.h"
#include "heatsink/policy/rules.h"
#include "heatsink/redis/redis.h"

namespace heatsink::copies {

// Created before the threads, and outlives them. `options`, `upstream`, `seed`, `shown`, `rules`
// and `consistency` never change. REQUIRES options without rule_faults().
struct NodeState {
  NodeState(const policy::ProxyOptions& options_in, net::RedisUrl upstream_in,
            std::uint64_t seed_in, policy::KeyDisplay shown_in = {})
      : options(options_in),
        upstream(std::move(upstream_in)),
        credentials{upstream.user, upstream.password},
        seed(seed_in),
        shown(std::move(shown_in)),
        rules(policy::rule_set(options, [this](std::string_view name) { return shown.show(name); })
                  .value()),
        consistency(policy::consistency_of_rules(options)),
        copies_for(policy::copies_of_rules(options)),
        refreshes(policy::refreshes_of_rules(options)),
        table({.entries_max = static_cast<std::size_t>(options.maximum_size),
               .bytes_max = options.maximum_bytes,
               .value_bytes_max = options.maximum_value_bytes,
               .nil_max =
                   static_cast<std::size_t>(std::min(options.maximum_nil, options.maximum_size)),
               .pins_max = static_cast<std::size_t>(part(options.warm_share, options.maximum_size)),
               .pinned_bytes_max = Bytes{static_cast<std::uint64_t>(part(
                   options.warm_share, static_cast<std::int64_t>(options.maximum_bytes.count)))}},
              epochs) {}

  const policy::ProxyOptions options;
  const net::RedisUrl upstream;
  const redis::Credentials credentials;
  const std::uint64_t seed;
  const policy::KeyDisplay shown;
  const detect::RuleSet rules;
  const std::vector<cache::ConsistencyPolicy> consistency;  // by index of the rule
  const std::vector<policy::CopiesFor> copies_for;          // by index of the rule
  const std::vector<bool> refreshes;                        // by index of the rule

  // The consistency of a key's copies. For a truncated name (`is_whole` false) see RuleSet::of().
  const cache::ConsistencyPolicy& consistency_of(std::string_view key, bool is_whole = true) const {
    return consistency[rule_of(key, is_whole)];
  }
  std::size_t rule_of(std::string_view key, bool is_whole = true) const {
    return rules.index_of(rules.of(key, is_whole));
  }

  bool refreshes_copies_of(std::string_view key) const {
    return refreshes[rules.index_of(rules.of(key))];
  }

  // For each connection of the keeper to the server.
  redis::ServerConnectionOptions connection_options() const {
    return {.connect_timeout = options.connect_timeout,
            .backoff_min = options.backoff_min,
            .backoff_max = options.backoff_max,
            .seed = seed};
  }

  const std::unique_ptr<policy::Limits> limits{
      policy::Limits::make(options, rules)};  // null: no limits

  // Null: only hot keys get copies.
  const std::unique_ptr<admit::AdmissionState> admission{
      options.cache_enabled && has(copies_for, policy::CopiesFor::kWhatPays)
          ? std::make_unique<admit::AdmissionState>(static_cast<std::size_t>(options.maximum_size))
          : nullptr};

  cache::Epochs epochs;
  cache::ProofState proof;
  cache::Fences fences;
  cache::HotTable table;

  // The names that the server remembers for the tracker. The keeper writes it.
  std::atomic<std::uint64_t> tracked_keys{0};

  std::atomic<std::uint64_t> clients{0};
  // Workers that are not at rest (docs/design/architecture.md, "At rest").
  std::atomic<std::uint32_t> workers_awake{0};
  // The workers' buffers: as measured last, about once a second.
  std::atomic<std::int64_t> buffers_bytes{0};
  // A client may run commands without AUTH. If the proxy itself has to log in, this stays false
  // until the server has said otherwise: no client gets in on the proxy's login.
  std::atomic<bool> upstream_open{!credentials.given()};

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

  // The server that the copies come from. The keeper resolves its address again after it loses its
  // connection.
  redis::UpstreamAddress upstream_address{upstream};

 private:
  static std::int64_t part(Share share, std::int64_t whole) {
    return static_cast<std::int64_t>(share.part * static_cast<double>(whole));
  }

  static bool has(const std::vector<policy::CopiesFor>& all, policy::CopiesFor one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  }

  std::atomic<std::int64_t> rights_changed_at_{0};
};

}  // namespace heatsink::copies
