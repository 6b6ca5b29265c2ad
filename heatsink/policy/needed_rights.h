// SPDX-License-Identifier: Apache-2.0
// Checks whether the server's ACL lets the proxy's own user do what the proxy needs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/resp/value.h"

namespace heatsink::policy {

// One command that the proxy sends by itself, in a form that changes nothing.
struct NeededRight {
  std::vector<std::string> words;
  std::string name;        // for messages: "CLIENT TRACKING"
  std::string rule;        // the rule that allows it, for ACL SETUSER
  std::string without_it;  // what does not work without it
  bool for_copies;         // without it there are no local copies
  bool is_new = false;     // older servers do not know it, and need not
  // Not missed if the right of this name is there; "CONFIG GET": if that says that no node reads
  // when the cluster is down.
  std::string unless = {};
  // Not missed where the server does not know the right of this name.
  std::string only_with = {};
};

struct MissingRight {
  std::string sentence;  // what is missing, its effect, and the command that grants it
  bool for_copies;
  // The parts of the sentence. `grant`: a line for redis-cli; "" if no right can be granted.
  std::string what = {}, without_it = {}, grant = {};
  friend bool operator==(const MissingRight& a, const MissingRight& b) {
    return a.sentence == b.sentence && a.for_copies == b.for_copies;
  }
};

// Whether the error refuses the command itself: "NOPERM ... to run the 'exists' command". Any other
// NOPERM is about a key. Of Redis 6 to 8 and Valkey.
bool refuses_command(std::string_view error);

// The reply tells neither that the user may run the command, nor that it may not: the server loads
// its data, or runs a slow script. Errors about slots, replicas and disks come after the rights.
bool says_nothing_of_rights(const resp::Value& reply);

// The key or, in a cluster, the pattern of the keys that heartbeats read: one for each slot.
std::string heartbeat_pattern(std::string_view heartbeat_key, bool is_cluster);

// `user`: the name in the server's ACL. `is_cluster`: the server is a node of a cluster.
std::vector<NeededRight> needed_rights(std::string_view user, std::string_view heartbeat_key,
                                       bool is_cluster);

// Reads the replies to needed_rights(), in the same order, and returns the rights that are missing.
// All commands with a key name a heartbeat key, so a refusal because of the key is reported once,
// as of heartbeat_pattern(). Knows the error texts of Redis 6 to 8 and of Valkey.
std::vector<MissingRight> missing_rights(std::string_view user, std::string_view heartbeat_pattern,
                                         std::span<const NeededRight> needed,
                                         std::span<const resp::Value> replies);

}  // namespace heatsink::policy
