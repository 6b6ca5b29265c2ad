// SPDX-License-Identifier: Apache-2.0
// Reads what Sentinels say about a master, its replicas, and each other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/net/address.h"
#include "heatsink/resp/value.h"

namespace heatsink::topology {

// One Sentinel's view of the master.
struct SentinelAnswer {
  net::HostPort master;
  std::uint64_t epoch = 0;   // of the configuration: a fail-over raises it
  bool doubts = false;       // it cannot reach the master, or a fail-over is under way
  std::uint64_t others = 0;  // Sentinels that it knows besides itself
};
// Reads the replies to SENTINEL GET-MASTER-ADDR-BY-NAME and SENTINEL MASTER. Nothing: one of them
// is an error, or no such reply. During a fail-over the first one is ahead: it names the new master
// while the second one still shows the old address, but already the new epoch.
std::optional<SentinelAnswer> parse_sentinel_answer(const resp::Value& address,
                                                    const resp::Value& master);
// It does not watch a master of that name.
bool is_unknown_master(const resp::Value& address, const resp::Value& master);

struct SentinelMember {
  net::HostPort address;
  std::string id;  // "runid" of another Sentinel
};
// Reads the reply to SENTINEL SENTINELS or SENTINEL REPLICAS; at most `count_max` members.
std::vector<SentinelMember> parse_members(const resp::Value& reply, std::size_t count_max);
// The names in the reply to SENTINEL MASTERS: "'mymaster', 'other'"; at most five.
std::string names_of_masters(const resp::Value& reply);

// Why parse_sentinel_answer() returned nothing, for the operator. `masters`: the reply to SENTINEL
// MASTERS, or a null.
std::string why_no_answer(const resp::Value& address, const resp::Value& master,
                          const resp::Value& masters, const std::string& name);

}  // namespace heatsink::topology
