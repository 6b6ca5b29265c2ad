// SPDX-License-Identifier: Apache-2.0
// What the keeper and the workers of one proxy see: the options and rules, and the tables of
// copies, which need no lock.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

// Made before the threads start, and outlives them. `options`, `upstream`, `seed`, `shown`,
// `rules` and `terms` never change. REQUIRES options without rule_faults().
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
        terms(policy::terms_of_rules(options)),
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
  const std::vector<cache::Terms> terms;  // at the places of `rules`
  const std::vector<bool> refreshes;      // likewise

  // What is promised of a key's copies. Of a truncated name (`is_whole` false) see RuleSet::of().
  const cache::Terms& terms_of(std::string_view key, bool is_whole = true) const {
    return terms[rules.index_of(rules.of(key, is_whole))];
  }

  bool refreshes_copies_of(std::string_view key) const {
    return refreshes[rules.index_of(rules.of(key))];
  }

  // Of each connection of the keeper to the server.
  redis::LinkOptions link_options() const {
    return {.connect_timeout = options.connect_timeout,
            .backoff_min = options.backoff_min,
            .backoff_max = options.backoff_max,
            .seed = seed};
  }

  const std::unique_ptr<policy::Limits> limits{
      policy::Limits::make(options, rules)};  // null: nothing is limited

  cache::Epochs epochs;
  cache::Lease lease;
  cache::Fences fences;
  cache::HotTable table;

  // Names that the server remembers for the tracker; the keeper writes it.
  std::atomic<std::uint64_t> tracked_keys{0};

  std::atomic<std::uint64_t> clients{0};
  // A client may run commands without AUTH. Where the proxy itself has to log in, nobody else is
  // let in on its login before the server has said so.
  std::atomic<bool> upstream_open{!credentials.given()};

  // It refuses a command whose keys are in several slots.
  std::atomic<bool> is_cluster_node{false};

  // When somebody was last told, through this proxy, that who may do what is another now: what was
  // asked of the server then or before proves no right.
  TimePoint rights_changed_at() const { return TimePoint(Nanos(rights_changed_at_.load())); }
  void rights_change(TimePoint now) {
    std::int64_t before = rights_changed_at_.load();
    const std::int64_t at = now.time_since_epoch().count();
    while (before < at && !rights_changed_at_.compare_exchange_weak(before, at)) {
    }
  }

  // How often the server has let somebody in. A refusal for want of it is good only while this has
  // not grown since the attempt that failed: a client that was served here is then never refused
  // there, on another connection or another worker, for the rest of a pause begun without that
  // news.
  std::atomic<std::uint64_t> contacts{0};

  // Where the server is; looked up again by the keeper when the connection is lost.
  redis::Place place{upstream};

 private:
  static std::int64_t part(Share share, std::int64_t whole) {
    return static_cast<std::int64_t>(share.part * static_cast<double>(whole));
  }

  std::atomic<std::int64_t> rights_changed_at_{0};
};

}  // namespace heatsink::copies
