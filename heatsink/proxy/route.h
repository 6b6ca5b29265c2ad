// SPDX-License-Identifier: Apache-2.0
// What the proxy does with each command: the connection it travels on, or the state that it
// changes.
#pragma once

#include <cstdint>

#include "heatsink/resp/command_table.h"

namespace heatsink::proxy {

enum class Route : std::uint8_t {
  kShared,    // no connection state: rides with everybody's
  kPrivate,   // its own connection while it runs: admin, unknown cost, no telling what it answers
  kNoDb,      // likewise, and answered by a server that is too busy for SELECT
  kPinned,    // changes or shows connection state that only the server keeps: its own from now on
  kBlocking,  // its own while it waits
  kMaybeBlocking,  // likewise, if it says BLOCK
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
  kClient,     // CLIENT REPLY, SETNAME, GETNAME, SETINFO: the proxy's own affair
  kSubscribe,  // SUBSCRIBE and its kin
  kDebug,      // SCRIPT DEBUG: its connection, and the scripts on it, are the debugger's
  kEval,       // kPrivate, unless the client has asked for the debugger
  kRaw,        // MONITOR, SYNC, PSYNC: the connection speaks no request-reply any longer
};

// By name for the few with a row of their own, by flags for all others; what is not known to be
// harmless on a shared connection (admin, pub/sub, modules) gets its own. Pure; not for every
// request: cache it.
Route route_of(const resp::Command& command);

// EVAL and its kin: the server keeps the script, and EVALSHA counts on that.
bool uses_scripts(const resp::Command& command);

// Writes after which the server may not push what has become invalid (SWAPDB, DEBUG, REPLICAOF,
// ...).
bool hides_invalidations(const resp::Command& command);

// Its reply says nothing of any key.
bool tells_nothing(const resp::Command& command);

// After which a client that has said nothing may be let in, or no longer.
bool changes_access(const resp::Command& command);
// After which somebody may no longer read what there are copies of.
bool changes_rights(const resp::Command& command);

}  // namespace heatsink::proxy
