// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/key_fields.h"

#include <array>
#include <optional>
#include <utility>

#include "heatsink/base/base64.h"

namespace heatsink::report {
namespace {

using enum Presence;

const std::array kKeyFields{
    Field<KeyView>{"db", &KeyView::db},
    Field<KeyView>{"rule", &KeyView::rule},
    Field<KeyView>{"dimension", &KeyView::dimension},
    Field<KeyView>{"window_seconds", &KeyView::window},
    Field<KeyView>{"counted_seconds", &KeyView::counted, kLater},
    Field<KeyView>{"rate", &KeyView::rate},
    Field<KeyView>{"rate_low", &KeyView::rate_low},
    Field<KeyView>{"rate_high", &KeyView::rate_high},
    Field<KeyView>{"share", &KeyView::share},
    Field<KeyView>{"reads", &KeyView::reads},
    Field<KeyView>{"writes", &KeyView::writes},
    Field<KeyView>{"hits", &KeyView::hits},
    Field<KeyView>{"misses", &KeyView::misses, kLater},
    Field<KeyView>{"bytes", &KeyView::bytes},
    Field<KeyView>{"hit_ratio", &KeyView::hit_ratio},
    Field<KeyView>{"spared", &KeyView::spared, kLater},
    Field<KeyView>{"offload", &KeyView::offload, kLater},
    Field<KeyView>{"commands", &KeyView::commands},
    Field<KeyView>{"clients", &KeyView::clients},
    Field<KeyView>{"age_seconds", &KeyView::age},
    Field<KeyView>{"verdict", &KeyView::verdict},
    Field<KeyView>{"reason", &KeyView::reason},
    Field<KeyView>{"cached", &KeyView::cached},
    Field<KeyView>{"cache_note", &KeyView::cache_note},
    Field<KeyView>{"level", &KeyView::level},
    Field<KeyView>{"max_staleness_seconds", &KeyView::max_staleness, kLater},
    Field<KeyView>{"limit", &KeyView::limit, kLater},
    Field<KeyView>{"limited_rate", &KeyView::limited_rate, kLater},
    Field<KeyView>{"warmed", &KeyView::warmed, kLater},
    Field<KeyView>{"coalesce_seconds", &KeyView::coalesce, kLater},
    Field<KeyView>{"stale_while_error_seconds", &KeyView::stale_while_error, kLater},
    Field<KeyView>{"kept_by_clients", &KeyView::kept_by, kLater},
    Field<KeyView>{"reply_bytes", &KeyView::reply_bytes, kLater},
    Field<KeyView>{"value_bytes", &KeyView::value_bytes, kIfKnown},
    Field<KeyView>{"memory_bytes", &KeyView::memory_bytes, kIfKnown},
    Field<KeyView>{"type", &KeyView::type, kIfKnown},
    Field<KeyView>{"encoding", &KeyView::encoding, kIfKnown},
    Field<KeyView>{"ttl_seconds", &KeyView::ttl, kIfKnown},
    Field<KeyView>{"never_expires", &KeyView::never_expires, kIfKnown},
    Field<KeyView>{"value_problem", &KeyView::value_problem, kIfKnown},
    Field<KeyView>{"absent_rate", &KeyView::absent_rate, kIfKnown},
    Field<KeyView>{"latency_mean_seconds", &KeyView::latency_mean, kIfKnown},
    Field<KeyView>{"latency_p99_seconds", &KeyView::latency_p99, kIfKnown},
    Field<KeyView>{"node", &KeyView::node, kIfKnown},
};

const std::array kTemplateFields{
    Field<KeyView>{"db", &KeyView::db},
    Field<KeyView>{"rate", &KeyView::rate},
    Field<KeyView>{"rate_low", &KeyView::rate_low},
    Field<KeyView>{"rate_high", &KeyView::rate_high},
    Field<KeyView>{"share", &KeyView::share},
    Field<KeyView>{"reads_rate", &KeyView::reads_rate},
    Field<KeyView>{"writes_rate", &KeyView::writes_rate},
    Field<KeyView>{"hits_rate", &KeyView::hits_rate},
};

const std::array kNodeFields{
    Field<NodeView>{"upstream", &NodeView::upstream},
    Field<NodeView>{"upstream_up", &NodeView::upstream_up},
    Field<NodeView>{"coherence", &NodeView::coherence},
    Field<NodeView>{"requests_rate", &NodeView::requests_rate},
    Field<NodeView>{"reads_rate", &NodeView::reads_rate},
    Field<NodeView>{"writes_rate", &NodeView::writes_rate},
    Field<NodeView>{"hits_rate", &NodeView::hits_rate},
    Field<NodeView>{"misses_rate", &NodeView::misses_rate},
    Field<NodeView>{"hit_ratio", &NodeView::hit_ratio},
    Field<NodeView>{"offload", &NodeView::offload},
    Field<NodeView>{"commands_rate", &NodeView::commands_rate, kLater},
    Field<NodeView>{"server_commands_rate", &NodeView::server_commands_rate, kLater},
    Field<NodeView>{"own_commands_rate", &NodeView::own_commands_rate, kLater},
    Field<NodeView>{"cpu_cores", &NodeView::servers_cpu, kLater},
    Field<NodeView>{"cpu_spared_cores", &NodeView::cpu_spared_cores, kLater},
    Field<NodeView>{"cpu_offload", &NodeView::cpu_offload, kLater},
    Field<NodeView>{"cpu_unknown", &NodeView::cpu_unknown, kLater},
    Field<NodeView>{"dimension", &NodeView::dimension},
    Field<NodeView>{"hot", &NodeView::hot},
    Field<NodeView>{"warm", &NodeView::warm},
    Field<NodeView>{"absent_max", &NodeView::absent_max, kLater},
    Field<NodeView>{"rules", &NodeView::rules, kLater},
    Field<NodeView>{"workers", &NodeView::workers, kLater},
    Field<NodeView>{"redacted", &NodeView::redacted, kLater},
    Field<NodeView>{"sampled", &NodeView::sampled, kLater},
    Field<NodeView>{"clients", &NodeView::clients},
    Field<NodeView>{"hot_keys", &NodeView::hot_keys},
    Field<NodeView>{"write_hot_keys", &NodeView::write_hot_keys, kLater},
    Field<NodeView>{"cached_entries", &NodeView::cached_entries},
    Field<NodeView>{"cached_bytes", &NodeView::cached_bytes},
    Field<NodeView>{"stale_confirmed", &NodeView::stale_confirmed},
    Field<NodeView>{"unseen_rate", &NodeView::unseen_rate, kIfKnown},
    Field<NodeView>{"may_be_pause", &NodeView::may_be_pause, kIfKnown},
};

}  // namespace

std::span<const Field<KeyView>> key_fields() { return kKeyFields; }
std::span<const Field<KeyView>> template_fields() { return kTemplateFields; }
std::span<const Field<NodeView>> node_fields() { return kNodeFields; }

void read_name(Members& members, KeyView& key) {
  std::string encoded;
  members.read("name", key.name);
  members.read("name_base64", encoded);
  members.read("name_truncated", key.name_truncated);
  if (std::optional<std::string> bytes = from_base64(encoded)) {
    key.raw_name = *std::move(bytes);
  } else {
    members.fail("name_base64", "base64");
  }
}

}  // namespace heatsink::report
