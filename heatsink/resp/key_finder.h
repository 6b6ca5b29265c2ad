// SPDX-License-Identifier: Apache-2.0
// Finds the keys among a call's arguments, and whether the call may change them.
//
// The rules, which each take all of a call:
// 1. A command with key specs has the keys they name; a key is a write if its spec says so (RW, OW,
//    RM, insert, update, delete), else a read. So the keys of EVAL are writes. So are PFCOUNT's,
//    although PFCOUNT is flagged readonly: it stores its estimate in the value, and a later GET of
//    the key returns other bytes.
// 2. Where specs do not suffice, the call's grammar decides: SORT and SORT_RO (STORE writes its
// key;
//    BY and GET patterns with a '*' read further keys: kUnknownReads), MIGRATE (one key, or KEYS),
//    GEORADIUS and GEORADIUSBYMEMBER (the keys after STORE and STOREDIST are written), BITFIELD (a
//    read if it has only GET), XREAD, and XREADGROUP, whose keys are writes, although the server's
//    specs say read: it moves the group.
// 3. Optional keys (flag no_mandatory_keys: EVAL, FCALL, ...) that a call leaves out: unknown.
// FCALL
//    is unknown even with keys: a function is free to access others. Module commands of that kind
//    are treated like FCALL.
// 4. A command without specs. Flagged write (FLUSHALL, FLUSHDB, SWAPDB, a module's): any key may
//    change. The same holds for DEBUG, FAILOVER, REPLICAOF, SLAVEOF, MODULE LOAD / LOADEX / UNLOAD,
//    the CLUSTER subcommands that move slots or roles, any other command of a module that is not
//    flagged readonly, and a subcommand that the table does not know. Flagged readonly (KEYS, SCAN,
//    RANDOMKEY, DBSIZE): any key may be read. Otherwise it has no keys: PING, PUBLISH, CONFIG,
//    SCRIPT, and FUNCTION LOAD / DELETE / FLUSH / RESTORE, which are flagged write but change code.
// 5. EXEC has no keys of its own: the caller has seen the queued commands.
// 6. Keys that a call announces but does not have (numkeys beyond the arguments, a missing key
//    position) are left out, and the answer is unknown.
// 7. "Unknown" is kUnknownReads for calls that only read (a readonly command, a spec that does not
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
  kKnown,  // `refs` has all keys (perhaps none)
  // Other keys may be read as well; none changes. Code that promises that no key goes back in time
  // counts the call as a read of each key on the server.
  kUnknownReads,
  kUnknown,  // other keys may change as well: it counts as a write of each key
};

// Finds the keys of one call and stores them in `refs` (cleared first), in order of appearance,
// each once. Never fails, and never gives an index beyond the arguments, whatever they are.
// O(arguments); allocates only when `refs` grows. Thread-safe, with one `refs` per thread. REQUIRES
// `command` to be the table's result for `args`.
Keys find_keys(const Command& command, std::span<const std::string_view> args,
               std::vector<KeyRef>& refs);

}  // namespace heatsink::resp
