// SPDX-License-Identifier: Apache-2.0
// Decides what the proxy does with each command: which connection it uses, or which state it
// changes.
#pragma once

#include <cstdint>

#include "heatsink/resp/command_table.h"

namespace heatsink::proxy {

enum class Route : std::uint8_t {
  kShared,         // no connection state: a connection that all clients share
  kPrivate,        // a private connection while it runs: admin commands, unknown cost or replies
  kNoDb,           // private, without SELECT: a busy server executes it but refuses SELECT
  kPinned,         // uses connection state that only the server keeps: the connection is pinned
  kBlocking,       // a private connection while it waits
  kMaybeBlocking,  // the same, with the argument BLOCK
  kWait,           // WAIT, WAITAOF: must follow a command on its connection
  kMulti,
  kExec,
  kDiscard,
  kWatch,
  kUnwatch,
  kSelect,
  kAuth,
  kHello,
  kQuit,
  kReset,
  kClient,     // CLIENT REPLY, SETNAME, GETNAME, SETINFO: handled by the proxy
  kSubscribe,  // SUBSCRIBE and related commands
  kDebug,      // SCRIPT DEBUG
  kRaw,        // MONITOR, SYNC, PSYNC: the connection leaves the request-reply protocol
};

// Looks up the few commands with a row of their own by name. Commands that were reviewed
// (reviewed_commands.h) are routed by their flags: what is not known to be harmless on a shared
// connection (admin, pub/sub, modules) gets a private one. A command that is newer than the review
// shares connections only if it names keys or only reads; any other one is pinned. A pure function,
// but too slow for each request: cache the result.
Route route_of(const resp::Command& command);

// Cluster-aware clients send it: CLUSTER, READONLY, READWRITE, ASKING; or its reply says whether
// the server is in a cluster: INFO, HELLO.
bool shows_cluster(const resp::Command& command);
// READONLY, READWRITE, ASKING: the proxy chooses the node itself.
bool chooses_node(const resp::Command& command);

// EVAL and related commands: the server keeps the script, and EVALSHA relies on that.
bool uses_scripts(const resp::Command& command);

// The meaning of a command for a script: in front of a cluster the proxy remembers it.
enum class ScriptUse : std::uint8_t {
  kNone,
  kText,   // EVAL: its first argument is the text
  kSha1,   // EVALSHA: its first argument is the name
  kLoad,   // SCRIPT LOAD
  kFlush,  // SCRIPT FLUSH
};
ScriptUse script_use(const resp::Command& command);

// Commands after which the server may not push all invalidations (SWAPDB, DEBUG, REPLICAOF, ...).
bool hides_invalidations(const resp::Command& command);

// Whether a command may exchange databases (SWAPDB) by code that it runs: the server then sends no
// invalidation, but its count of SWAPDB shows it (redis/swap_count.h).
enum class Exchange : std::uint8_t {
  kNever,
  kByText,  // EVAL, unless the text shows that it does not (reviewed_commands.h)
  kBySha1,  // EVALSHA: the same, if the proxy knows the text
  kAlways,  // FCALL, modules that were not reviewed, new commands without keys
};
Exchange exchange_of(const resp::Command& command);

// The reply reveals nothing about any key.
bool reveals_no_key(const resp::Command& command);

// The command may change whether the server admits clients that have not logged in.
bool changes_access(const resp::Command& command);
// The command may take a user's right to read keys that have copies.
bool changes_rights(const resp::Command& command);

}  // namespace heatsink::proxy
