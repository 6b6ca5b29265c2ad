// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/needed_rights.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "heatsink/base/printable.h"
#include "heatsink/resp/key_slot.h"
#include "heatsink/resp/resp.h"

namespace heatsink::policy {
namespace {

constexpr std::string_view kNoCopies = "no local copies";
constexpr std::string_view kConfigGet = "CONFIG GET";
constexpr std::string_view kReadsWhenDown = "cluster-allow-reads-when-down";

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

// The rights that a cluster needs besides. `key`: a heartbeat key.
std::vector<NeededRight> cluster_rights(const std::string& key) {
  const std::string copies(kNoCopies);
  const std::string nothing = "the proxy cannot find the cluster's nodes";
  return {{{"CLUSTER", "INFO"}, "CLUSTER INFO", "+cluster|info", nothing, true},
          {{"CLUSTER", "SHARDS"},
           "CLUSTER SHARDS",
           "+cluster|shards",
           nothing,
           true,
           true,
           "CLUSTER SLOTS"},
          {{"CLUSTER", "SLOTS"},
           "CLUSTER SLOTS",
           "+cluster|slots",
           nothing,
           true,
           false,
           "CLUSTER SHARDS"},
          {{"CLUSTER", "NODES"},
           "CLUSTER NODES",
           "+cluster|nodes",
           "after a slot has moved, its former owner may count for a moment",
           false},
          {{"CONFIG", "GET", std::string(kReadsWhenDown)},
           std::string(kConfigGet),
           "+config|get",
           "the proxy takes it that nodes may read when the cluster is down, and proves by PERSIST",
           false},
          {{"PERSIST", key}, "PERSIST", "+persist", copies, true, false, std::string(kConfigGet)},
          {{"ASKING"}, "ASKING", "+asking", "errors for keys of slots that move", false}};
}

}  // namespace

bool refuses_command(std::string_view error) {
  return error.starts_with("NOPERM") && error.find("to run the ") != std::string_view::npos;
}

bool says_nothing_of_rights(const resp::Value& reply) {
  static constexpr std::array<std::string_view, 11> kOthers = {
      "NOPERM", "ERR",      "MOVED",   "ASK",        "TRYAGAIN",  "CLUSTERDOWN",
      "OOM",    "READONLY", "MISCONF", "NOREPLICAS", "MASTERDOWN"};
  return reply.is_error() && std::ranges::none_of(kOthers, [&](std::string_view code) {
           return reply.text.starts_with(code);
         });
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
      {{"HPTTL", key, "FIELDS", "1", "f"},
       "HPTTL",
       "+hpttl",
       "no local copies of hashes, except by HLEN",
       false,
       true},
      {{"OBJECT", "ENCODING", key},
       "OBJECT ENCODING",
       "+object|encoding",
       "the server works more for each copy of a small hash",
       false,
       false,
       "",
       "HPTTL"},
      {{"HKEYS", key}, "HKEYS", "+hkeys", "no local copies by HVALS", false, false, "", "HPTTL"},
      {{"ACL", "GETUSER", own},
       "ACL GETUSER",
       "+acl|getuser",
       "local copies live for at most cache.acl-staleness",
       false},
      {{"INFO", "memory"},
       "INFO",
       "+info",
       "the proxy assumes that the server evicts keys by use, and does not see SWAPDB past it",
       false},
      {{"COMMAND", "COUNT"},
       "COMMAND",
       "+command",
       "commands of modules, and of servers newer than this proxy, use private connections",
       false},
      {{"SELECT", "0"}, "SELECT", "+select", "clients can use only database 0", false},
      {{"CLIENT", "UNBLOCK", "0"},
       "CLIENT UNBLOCK",
       "+client|unblock",
       "a client that leaves while it waits (BLPOP) may take an element along",
       false}};
  if (is_cluster) std::ranges::move(cluster_rights(key), std::back_inserter(needed));
  return needed;
}

namespace {

// Null: `name` is "", or has no reply.
const resp::Value* reply_to(std::string_view name, std::span<const NeededRight> needed,
                            std::span<const resp::Value> replies) {
  const auto other = std::ranges::find(needed, name, &NeededRight::name);
  const auto at = static_cast<std::size_t>(other - needed.begin());
  return at < std::min(needed.size(), replies.size()) ? &replies[at] : nullptr;
}

bool is_needless(const NeededRight& right, std::span<const NeededRight> needed,
                 std::span<const resp::Value> replies) {
  const resp::Value* const with = reply_to(right.only_with, needed, replies);
  if (with != nullptr && with->is_error() && resp::is_unknown_command(with->text)) return true;
  const resp::Value* const other = reply_to(right.unless, needed, replies);
  if (other == nullptr || other->is_error()) return false;
  const resp::Value* const setting = other->find(kReadsWhenDown);
  return right.unless != kConfigGet || (setting != nullptr && setting->text == "no");
}

}  // namespace

std::vector<MissingRight> missing_rights(std::string_view user, std::string_view heartbeat_pattern,
                                         std::span<const NeededRight> needed,
                                         std::span<const resp::Value> replies) {
  std::vector<MissingRight> missing;
  bool is_key_reported = false;
  for (std::size_t i = 0; i < std::min(needed.size(), replies.size()); ++i) {
    const NeededRight& right = needed[i];
    if (!replies[i].is_error() || is_needless(right, needed, replies)) continue;
    const std::string& error = replies[i].text;
    if (refuses_command(error)) {
      missing.push_back(missing_right(whose(user) + " may not run " + right.name, right.without_it,
                                      grant(user, right.rule), right.for_copies));
    } else if (refuses_key(error) && !is_key_reported) {
      is_key_reported = true;
      missing.push_back(missing_right(
          whose(user) + " may not read the heartbeat key '" + printable(heartbeat_pattern) + "'",
          std::string(kNoCopies), grant(user, "~" + std::string(heartbeat_pattern)), true,
          heartbeat_pattern.starts_with("{*}")
              ? ""
              : ", or set cache.heartbeat-key to a key that it may read"));
    } else if (resp::is_unknown_command(error) && !right.is_new) {
      missing.push_back(
          missing_right("the server does not know " + right.name + " (or it was renamed)",
                        right.without_it, "", right.for_copies));
    }
  }
  return missing;
}

}  // namespace heatsink::policy
