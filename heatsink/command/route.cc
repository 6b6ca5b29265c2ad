// SPDX-License-Identifier: Apache-2.0
#include "heatsink/command/route.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "heatsink/command/reviewed_commands.h"

namespace heatsink::proxy {
namespace {

struct Row {
  std::string_view name;
  Route route;
};

constexpr std::array<Row, 60> kRows{{
    {"multi", Route::kMulti},
    {"exec", Route::kExec},
    {"discard", Route::kDiscard},
    {"watch", Route::kWatch},
    {"unwatch", Route::kUnwatch},
    {"select", Route::kSelect},
    {"auth", Route::kAuth},
    {"hello", Route::kHello},
    {"quit", Route::kQuit},
    {"reset", Route::kReset},
    {"client|reply", Route::kClient},
    {"client|setname", Route::kClient},
    {"client|getname", Route::kClient},
    {"client|setinfo", Route::kClient},
    {"client|id", Route::kPinned},
    {"client|info", Route::kPinned},
    {"client|tracking", Route::kPinned},
    {"client|trackinginfo", Route::kPinned},
    {"client|caching", Route::kPinned},
    {"client|getredir", Route::kPinned},
    {"client|no-evict", Route::kPinned},
    {"client|no-touch", Route::kPinned},
    {"subscribe", Route::kSubscribe},
    {"unsubscribe", Route::kSubscribe},
    {"psubscribe", Route::kSubscribe},
    {"punsubscribe", Route::kSubscribe},
    {"ssubscribe", Route::kSubscribe},
    {"sunsubscribe", Route::kSubscribe},
    {"publish", Route::kShared},
    {"spublish", Route::kShared},
    {"pubsub", Route::kShared},
    {"pubsub|channels", Route::kShared},
    {"pubsub|numsub", Route::kShared},
    {"pubsub|numpat", Route::kShared},
    {"pubsub|shardchannels", Route::kShared},
    {"pubsub|shardnumsub", Route::kShared},
    {"monitor", Route::kRaw},
    {"sync", Route::kRaw},
    {"psync", Route::kRaw},
    {"replconf", Route::kPinned},
    {"wait", Route::kWait},
    {"waitaof", Route::kWait},
    {"xread", Route::kMaybeBlocking},
    {"xreadgroup", Route::kMaybeBlocking},
    {"readonly", Route::kPinned},
    {"readwrite", Route::kPinned},
    {"asking", Route::kPinned},
    {"script|debug", Route::kDebug},
    // A script may run for long. On a shared connection all requests behind it would wait in
    // silence, where the server would answer BUSY.
    {"eval", Route::kPrivate},
    {"eval_ro", Route::kPrivate},
    {"evalsha", Route::kPrivate},
    {"evalsha_ro", Route::kPrivate},
    {"fcall", Route::kPrivate},
    {"fcall_ro", Route::kPrivate},
    {"keys", Route::kPrivate},
    {"debug", Route::kPrivate},
    {"command", Route::kPrivate},  // its reply has hundreds of kilobytes
    {"command|docs", Route::kPrivate},
    {"migrate", Route::kPrivate},
    {"failover", Route::kPrivate},
}};

// Most of what CLIENT does concerns its connection, like MAINT_NOTIFICATIONS, which new client
// libraries send when they connect. HIMPORT (Redis 8.10) keeps the names of fields: HIMPORT SET
// names a key, but writes fields that HIMPORT PREPARE has named on the same connection.
bool is_about_connection(std::string_view name) {
  return name.starts_with("client|") || name.starts_with("himport|");
}

bool names_keys(const resp::Command& command) {
  return command.first_key != 0 || command.has(resp::kMovableKeys) ||
         std::any_of(command.key_specs.begin(), command.key_specs.end(),
                     [](const resp::KeySpec& spec) { return !spec.not_key; });
}

Route route_by_flags(const resp::Command& command) {
  if (command.has(resp::kBlocking)) return Route::kBlocking;
  // A server that is busy with a script executes these commands, but refuses SELECT. They must wait
  // neither behind the script nor for a SELECT.
  if (command.has(resp::kAllowBusy)) return Route::kNoDb;
  if (command.has(resp::kAdmin | resp::kModule)) return Route::kPrivate;
  if (command.has(resp::kPubSub)) return Route::kPinned;
  return Route::kShared;
}

// A command that is newer than these tables may set state of its connection, which other clients of
// a shared connection would meet. So it is pinned, unless it names keys or only reads, and has no
// flag of the commands that concern a connection or the whole server.
bool may_keep_state(const resp::Command& command) {
  constexpr std::uint32_t kNeverShared = resp::kAdmin | resp::kPubSub | resp::kNoScript |
                                         resp::kNoAuth | resp::kAllowBusy | resp::kNoMulti |
                                         resp::kNoMandatoryKeys;
  const bool is_about_data = names_keys(command) || command.has(resp::kReadonly);
  return !is_about_data || command.has(kNeverShared);
}

}  // namespace

Route route_of(const resp::Command& command) {
  const auto* row = std::find_if(kRows.begin(), kRows.end(),
                                 [&](const Row& r) { return r.name == command.name; });
  if (row != kRows.end()) return row->route;
  // For an unknown subcommand the table finds the container. The server may know it nevertheless.
  if (command.is_container) return Route::kPinned;
  if (is_reviewed(command.name)) return route_by_flags(command);
  if (is_about_connection(command.name) || may_keep_state(command)) return Route::kPinned;
  return route_by_flags(command);
}

bool changes_access(const resp::Command& command) {
  return command.name == "config|set" || changes_rights(command);
}

bool changes_rights(const resp::Command& command) {
  return command.name == "acl|setuser" || command.name == "acl|deluser" ||
         command.name == "acl|load";
}

bool reveals_no_key(const resp::Command& command) {
  return command.name == "ping" || command.name == "echo" || command.name == "client|setinfo" ||
         command.name == "client|setname" || command.name == "auth" || command.name == "hello";
}

bool shows_cluster(const resp::Command& command) {
  return command.name == "cluster" || command.name.starts_with("cluster|") ||
         chooses_node(command) || command.name == "info" || command.name == "hello";
}

bool chooses_node(const resp::Command& command) {
  return command.name == "readonly" || command.name == "readwrite" || command.name == "asking";
}

bool uses_scripts(const resp::Command& command) {
  return command.name.starts_with("eval") || command.name == "script|load";
}

ScriptUse script_use(const resp::Command& command) {
  const std::string_view name = command.name;
  if (name == "eval" || name == "eval_ro") return ScriptUse::kText;
  if (name == "evalsha" || name == "evalsha_ro") return ScriptUse::kSha1;
  if (name == "script|load") return ScriptUse::kLoad;
  return name == "script|flush" ? ScriptUse::kFlush : ScriptUse::kNone;
}

Exchange exchange_of(const resp::Command& command) {
  if (command.has(resp::kReadonly)) return Exchange::kNever;
  if (command.name == "eval") return Exchange::kByText;
  if (command.name == "evalsha") return Exchange::kBySha1;
  if (command.has(resp::kNoMandatoryKeys)) return Exchange::kAlways;
  const bool is_harmless =
      is_reviewed(command.name) || (names_keys(command) && !command.has(resp::kModule));
  return is_harmless ? Exchange::kNever : Exchange::kAlways;
}

bool hides_invalidations(const resp::Command& command) {
  return command.name == "swapdb" || command.has(resp::kAdmin) || command.has(resp::kModule);
}

}  // namespace heatsink::proxy
