// SPDX-License-Identifier: Apache-2.0
// Describes one command as data: flags, arity, and the positions of its keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heatsink::resp {

// Bits of Command::flags, named as in the server's COMMAND reply.
enum CommandFlag : std::uint32_t {
  kWrite = 1u << 0,
  kReadonly = 1u << 1,
  kDenyOom = 1u << 2,
  kAdmin = 1u << 3,
  kPubSub = 1u << 4,
  kNoScript = 1u << 5,
  kBlocking = 1u << 6,
  kLoading = 1u << 7,
  kStale = 1u << 8,
  kSkipMonitor = 1u << 9,
  kAsking = 1u << 10,
  kFast = 1u << 11,
  kNoAuth = 1u << 12,
  kMayReplicate = 1u << 13,
  kMovableKeys = 1u << 14,
  kAllowBusy = 1u << 15,
  kNoAsyncLoading = 1u << 16,
  kNoMulti = 1u << 17,
  kSkipSlowlog = 1u << 18,
  kNoMandatoryKeys = 1u << 19,
  kModule = 1u << 20,
  kNondeterministicOutput = 1u << 21,  // from the command tips (before 7.0: the flag "random")
};

// The bit of the server's flag `name`; 0 for an unknown name.
std::uint32_t command_flag(std::string_view name);

// A key specification in COMMAND, since Redis 7.0 (https://redis.io/docs/reference/key-specs/).
struct KeySpec {
  enum class Begin : std::uint8_t { kIndex, kKeyword, kUnknown };
  enum class Find : std::uint8_t { kRange, kKeynum, kUnknown };
  Begin begin = Begin::kUnknown;
  // kIndex: a position; kKeyword: the start of the search (negative: from the end, backwards).
  std::int32_t index = 0;
  std::string keyword = {};
  Find find = Find::kUnknown;
  std::int32_t last_key = 0, key_step = 1, limit = 0;             // kRange
  std::int32_t keynum_index = 0, first_key = 0, keynum_step = 1;  // kKeynum
  bool reads = false;                                             // RO, RW or "access"
  bool writes = false;      // RW, OW, RM, or "insert", "update", "delete"
  bool not_key = false;     // e.g. SPUBLISH's channel
  bool incomplete = false;  // the spec may miss keys
};

// How find_keys() finds a command's keys. The table sets it from the name and the specs.
enum class KeyPositions : std::uint8_t {
  kSpecs,     // by key_specs alone; the default for a Command made by hand
  kNone,      // never a key, whatever the flags say
  kAny,       // no keys named, and any key may change
  kOneRead,   // one key at first_key: the fast path for GET
  kOneWrite,  // one key at first_key: the fast path for SET
  kFunction,  // by key_specs; other keys may change as well
  kSort,
  kMigrate,
  kGeoRadius,
  kBitField,
  kStreams,
};

struct Command {
  std::string name = {};  // lower case; a subcommand is "client|id"
  std::int32_t arity = 0;
  std::uint32_t flags = 0;
  // The legacy triple. If the server gives no spec, the table makes one from it.
  std::int32_t first_key = 0, last_key = 0, key_step = 0;
  std::vector<KeySpec> key_specs = {};
  bool is_container = false;  // has subcommands: CLIENT, CONFIG, XGROUP, ...
  KeyPositions key_positions = KeyPositions::kSpecs;

  bool has(std::uint32_t mask) const { return (flags & mask) != 0; }
};

}  // namespace heatsink::resp
