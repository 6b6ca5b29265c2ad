// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/needed_rights.h"

#include <algorithm>

#include "heatsink/base/printable.h"
#include "heatsink/resp/resp.h"
#include "heatsink/resp/slot_tags.h"

namespace heatsink::policy {
namespace {

constexpr std::string_view kNoCopies = "no local copies";

bool refuses_key(std::string_view error) {
  return error.starts_with("NOPERM") && !refuses_command(error);
}

std::string whose(std::string_view user) { return "the server's user '" + printable(user) + "'"; }

std::string grant(std::string_view user, std::string_view rule) {
  return "ACL SETUSER " + printable(user) + " " + printable(rule);
}

// `choice`: another way to mend it, for the sentence.
MissingRight missing_right(const std::string& what, const std::string& without_it,
                           const std::string& grant, bool for_copies,
                           std::string_view choice = "") {
  const std::string granted = grant.empty() ? "" : "; grant it: " + grant;
  return {.sentence = what + ": " + without_it + granted + std::string(choice),
          .for_copies = for_copies,
          .what = what,
          .without_it = without_it,
          .grant = grant};
}

}  // namespace

bool refuses_command(std::string_view error) {
  return error.starts_with("NOPERM") && error.find("to run the ") != std::string_view::npos;
}

std::string heartbeat_pattern(std::string_view heartbeat_key, bool is_cluster) {
  return (is_cluster ? "{*}" : "") + std::string(heartbeat_key);
}

// TOUCH is not in the list. The proxy sends it only to servers that evict keys by use.
std::vector<NeededRight> needed_rights(std::string_view user, std::string_view heartbeat_key,
                                       bool is_cluster) {
  // A server judges rights before it redirects, so any slot will do.
  const std::string key =
      is_cluster ? resp::name_in_slot(0, heartbeat_key) : std::string(heartbeat_key);
  const std::string own(user);
  const std::string copies(kNoCopies);
  std::vector<NeededRight> needed = {
      {{"CLIENT", "TRACKING", "OFF"}, "CLIENT TRACKING", "+client|tracking", copies, true},
      {{"EXISTS", key}, "EXISTS", "+exists", copies, true},
      {{"PTTL", key}, "PTTL", "+pttl", copies, true},
      {{"GETRANGE", key, "0", "0"}, "GETRANGE", "+getrange", "no local copies of strings", false},
      {{"ACL", "GETUSER", own},
       "ACL GETUSER",
       "+acl|getuser",
       "local copies live for at most cache.acl-staleness",
       false},
      {{"INFO", "memory"},
       "INFO",
       "+info",
       "the proxy assumes that the server evicts keys by use",
       false},
      {{"COMMAND", "COUNT"},
       "COMMAND",
       "+command",
       "commands of modules, and of servers newer than this proxy, use private connections",
       false},
      {{"SELECT", "0"}, "SELECT", "+select", "clients can use only database 0", false}};
  if (!is_cluster) return needed;
  const std::string nothing = "the proxy cannot find the cluster's nodes";
  needed.insert(
      needed.end(),
      {{{"CLUSTER", "INFO"}, "CLUSTER INFO", "+cluster|info", nothing, true},
       {{"CLUSTER", "SHARDS"}, "CLUSTER SHARDS", "+cluster|shards", nothing, true, true},
       {{"CLUSTER", "NODES"}, "CLUSTER NODES", "+cluster|nodes", copies, true},
       {{"CONFIG", "GET", "cluster-node-timeout"},
        "CONFIG GET",
        "+config|get",
        "the proxy takes it that the nodes read when the cluster is down, and waits longer after "
        "an election",
        false},
       {{"PERSIST", key}, "PERSIST", "+persist", "no local copies without CONFIG GET", false},
       {{"ASKING"}, "ASKING", "+asking", "errors for keys of slots that move", false}});
  return needed;
}

std::vector<MissingRight> missing_rights(std::string_view user, std::string_view heartbeat_pattern,
                                         std::span<const NeededRight> needed,
                                         std::span<const resp::Value> replies) {
  std::vector<MissingRight> missing;
  bool is_key_reported = false;
  for (std::size_t i = 0; i < std::min(needed.size(), replies.size()); ++i) {
    const NeededRight& right = needed[i];
    if (!replies[i].is_error()) continue;
    const std::string& error = replies[i].text;
    if (refuses_command(error)) {
      missing.push_back(missing_right(whose(user) + " may not run " + right.name, right.without_it,
                                      grant(user, right.rule), right.for_copies));
    } else if (refuses_key(error) && !is_key_reported) {
      is_key_reported = true;
      missing.push_back(missing_right(
          whose(user) + " may not read the heartbeat key '" + printable(heartbeat_pattern) + "'",
          std::string(kNoCopies), grant(user, "~" + std::string(heartbeat_pattern)), true,
          ", or set cache.heartbeat-key to a key that it may read"));
    } else if (resp::is_unknown_command(error) && !right.is_new) {
      missing.push_back(
          missing_right("the server does not know " + right.name + " (or it was renamed)",
                        right.without_it, "", right.for_copies));
    }
  }
  return missing;
}

}  // namespace heatsink::policy
