// SPDX-License-Identifier: Apache-2.0
// Which arguments of a call are keys, and whether the call may change them.
//
// The rules, which take a call together:
// 1. A command with key specs has the keys they name; a key is a write if its spec says so (RW, OW,
//    RM, insert, update, delete), else a read. So the keys of EVAL are writes, and PFCOUNT's,
//    although PFCOUNT is flagged readonly: it stores its estimate in the value, and a GET of the
//    key then gives other bytes.
// 2. Where specs cannot say it, the call's grammar does: SORT and SORT_RO (STORE writes its key; BY
//    and GET patterns with a '*' read keys that nobody named: kUnknownReads), MIGRATE (one key, or
//    KEYS), GEORADIUS and GEORADIUSBYMEMBER (what STORE and STOREDIST name is written), BITFIELD (a
//    read if it holds nothing but GET), XREAD, and XREADGROUP, whose keys are writes, whereas the
//    server's specs say read: it moves the group.
// 3. Keys that may be left out (flag no_mandatory_keys: EVAL, FCALL, ...) and are: unknown. FCALL
//    is unknown even with keys: a function is free to touch others. Module commands of that kind
//    are taken like FCALL.
// 4. A command without specs. Flagged write (FLUSHALL, FLUSHDB, SWAPDB, a module's): any key may
//    change. So too for DEBUG, FAILOVER, REPLICAOF, SLAVEOF, MODULE LOAD / LOADEX / UNLOAD, the
//    CLUSTER subcommands that move slots or roles, any other command of a module that does not call
//    itself readonly, and a subcommand that the table does not know. Flagged readonly (KEYS, SCAN,
//    RANDOMKEY, DBSIZE): any key may be read. Otherwise it has no keys: PING, PUBLISH, CONFIG,
//    SCRIPT, and FUNCTION LOAD / DELETE / FLUSH / RESTORE, which are flagged write but change code.
// 5. EXEC has no keys of its own: who lets it through has seen the queued commands.
// 6. What is not an argument of a call that the server will run (numkeys beyond the arguments, a
//    key position that is not there) is left out, and the answer is unknown.
// 7. "Unknown" is kUnknownReads for what only reads (a readonly command, a spec that does not
//    write), else kUnknown.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "heatsink/resp/command.h"

namespace heatsink::resp {

struct KeyRef {
  std::uint32_t arg;  // index into args
  bool write;         // the command may change this key
  friend bool operator==(const KeyRef&, const KeyRef&) = default;
};

enum class Keys : std::uint8_t {
  kKnown,         // `refs` are all the keys (perhaps none)
  kUnknownReads,  // other keys may be read as well, none changed: whoever promises that a key never
                  // goes back in time takes it as a read of every key that reached the server
  kUnknown,       // other keys may change as well: it counts as a write of every key
};

// The keys of one call, in order of appearance and each once, into `refs` (cleared first). Never
// fails, and never gives an index past the arguments, whatever they are. O(arguments); allocates
// only when `refs` has to grow. Any number of threads at once, each with its own `refs`. REQUIRES
// `command` to be what the table found for `args`.
Keys find_keys(const Command& command, std::span<const std::string_view> args,
               std::vector<KeyRef>& refs);

}  // namespace heatsink::resp
