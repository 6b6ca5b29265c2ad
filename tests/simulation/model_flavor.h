// SPDX-License-Identifier: Apache-2.0
// Where Redis 7, Redis 8 and Valkey differ in what the model of a server does.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace heatsink::simulation {

// As a node of a cluster. All slots are its own (kOwner), or another node's (kMoved), or it has
// lost the majority of the other nodes and serves no keys (kDown). It says nothing of the change.
enum class ModelCluster : std::uint8_t { kNone, kOwner, kMoved, kDown };

// Each field was found by model_differential_test against that server; see there for the versions.
struct ModelFlavor {
  std::string_view server = "redis";
  std::string_view version = "7.0.15";
  std::int64_t databases = 16;
  // CLIENT SETINFO, CLIENT NO-TOUCH (since 7.2).
  bool has_setinfo = false;
  // HPEXPIRE, HPERSIST, HPTTL, HGETEX, HSETEX, HGETDEL.
  bool has_field_expiry = false;
  // Commands that name a field of a hash delete it if it has ended, except for HPTTL and HPERSIST;
  // HSET and HDEL count it as there, and HPEXPIRE gives it another life. Otherwise only the
  // server's cycle deletes it.
  bool meets_ended_fields = false;
  // HPTTL replies -2 in the last millisecond of a field, in which reads still show it.
  bool hpttl_ends_early = false;
  // What OBJECT ENCODING says of a small hash of which a field expires.
  std::string_view expiring_encoding = "hashtable";
  // HSETEX with a time in the past counts as a change even if it removes nothing.
  bool past_hsetex_changes = false;
  // A script's reads track the keys that they read; otherwise those that the script declares.
  bool script_reads_track = false;
  // FLUSHALL and FLUSHDB, unless ASYNC or in a transaction, tell the client that sends them before
  // their reply, not behind it.
  bool flush_tells_first = false;
  // SET with a time in the past deletes what is there; otherwise it sets what has ended already.
  bool past_set_deletes = false;
  // GETEX looks at its time before it looks at the key.
  bool getex_checks_time_first = false;
  // MULTI and WATCH in a transaction spoil it: the sentence, or the one with the command's name.
  bool nested_multi_spoils = false;
  bool nested_multi_names_command = false;
  // What ACL GETUSER tells of the default user.
  bool tells_sanitize_payload = false;
  bool tells_databases = false;
};

inline constexpr ModelFlavor kRedis7;
inline constexpr ModelFlavor kRedis8{.version = "8.0.2",
                                     .has_setinfo = true,
                                     .has_field_expiry = true,
                                     .meets_ended_fields = true,
                                     .hpttl_ends_early = true,
                                     .expiring_encoding = "listpackex",
                                     .past_hsetex_changes = true,
                                     .script_reads_track = true,
                                     .flush_tells_first = true,
                                     .tells_sanitize_payload = true};
inline constexpr ModelFlavor kValkey8{.server = "valkey",
                                      .version = "8.1.1",
                                      .has_setinfo = true,
                                      .script_reads_track = true,
                                      .past_set_deletes = true,
                                      .nested_multi_spoils = true,
                                      .tells_sanitize_payload = true};
inline constexpr ModelFlavor kValkey9{.server = "valkey",
                                      .version = "9.1.2",
                                      .has_setinfo = true,
                                      .has_field_expiry = true,
                                      .script_reads_track = true,
                                      .past_set_deletes = true,
                                      .getex_checks_time_first = true,
                                      .nested_multi_spoils = true,
                                      .nested_multi_names_command = true,
                                      .tells_databases = true};

// Of a server that says so in HELLO; none for a version that nobody compared.
inline std::optional<ModelFlavor> flavor_of(std::string_view server, std::string_view version) {
  for (const ModelFlavor& each : {kRedis7, kRedis8, kValkey8, kValkey9}) {
    const std::string_view major = each.version.substr(0, each.version.find('.') + 1);
    if (each.server == server && version.starts_with(major)) return each;
  }
  return std::nullopt;
}

}  // namespace heatsink::simulation
