// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/route.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace heatsink::proxy {
namespace {

struct Row {
  std::string_view name;
  Route route;
};

constexpr std::array<Row, 61> kRows{{
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
    {"client", Route::kPrivate},  // a subcommand that the server does not know, or none
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
    // A script takes the time it takes: on a shared connection all behind it would wait in silence,
    // where the server has BUSY to say.
    {"eval", Route::kEval},
    {"eval_ro", Route::kEval},
    {"evalsha", Route::kPrivate},
    {"evalsha_ro", Route::kPrivate},
    {"fcall", Route::kPrivate},
    {"fcall_ro", Route::kPrivate},
    {"keys", Route::kPrivate},
    {"debug", Route::kPrivate},
    {"command", Route::kPrivate},  // hundreds of kilobytes
    {"command|docs", Route::kPrivate},
    {"migrate", Route::kPrivate},
    {"failover", Route::kPrivate},
}};

}  // namespace

Route route_of(const resp::Command& command) {
  const auto* row = std::find_if(kRows.begin(), kRows.end(),
                                 [&](const Row& r) { return r.name == command.name; });
  if (row != kRows.end()) return row->route;
  if (command.has(resp::kBlocking)) return Route::kBlocking;
  // What the server takes while a script keeps it busy must wait neither behind that script nor for
  // SELECT, which is not taken.
  if (command.has(resp::kAllowBusy)) return Route::kNoDb;
  if (command.has(resp::kAdmin | resp::kModule)) return Route::kPrivate;
  if (command.has(resp::kPubSub)) return Route::kPinned;
  // One that is newer than these rows: most of them set something for the connection, as does
  // MAINT_NOTIFICATIONS, with which new client libraries say hello.
  if (command.name.starts_with("client|")) return Route::kPinned;
  return Route::kShared;
}

bool changes_access(const resp::Command& command) {
  return command.name == "config|set" || changes_rights(command);
}

bool changes_rights(const resp::Command& command) {
  return command.name == "acl|setuser" || command.name == "acl|deluser" ||
         command.name == "acl|load";
}

bool tells_nothing(const resp::Command& command) {
  return command.name == "ping" || command.name == "echo" || command.name == "client|setinfo" ||
         command.name == "client|setname" || command.name == "auth" || command.name == "hello";
}

bool uses_scripts(const resp::Command& command) {
  return command.name.starts_with("eval") || command.name == "script|load";
}

bool hides_invalidations(const resp::Command& command) {
  return command.name == "swapdb" || command.has(resp::kAdmin) || command.has(resp::kModule);
}

}  // namespace heatsink::proxy
