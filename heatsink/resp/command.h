// SPDX-License-Identifier: Apache-2.0
// One command as data: flags, arity, and where its keys stand.
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

// The bit that the server calls `name`; 0 for a name not known here.
std::uint32_t command_flag(std::string_view name);

// A key specification as COMMAND gives it since Redis 7.0
// (https://redis.io/docs/reference/key-specs/).
struct KeySpec {
  enum class Begin : std::uint8_t { kIndex, kKeyword, kUnknown };
  enum class Find : std::uint8_t { kRange, kKeynum, kUnknown };
  Begin begin = Begin::kUnknown;
  // kIndex: position; kKeyword: where the search starts (negative: from the end, backwards).
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

// How find_keys() goes about a command. The table sets it from the name and the specs.
enum class KeyRule : std::uint8_t {
  kSpecs,     // by key_specs alone; what a Command made by hand has
  kNone,      // never a key, whatever the flags say
  kAny,       // no keys named, and any key may change
  kOneRead,   // one key at first_key: the quick way for GET
  kOneWrite,  // one key at first_key: the quick way for SET
  kFunction,  // by key_specs, and keys it does not name may change as well
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
  // The legacy triple; the table makes a key spec of it where the server gives none.
  std::int32_t first_key = 0, last_key = 0, key_step = 0;
  std::vector<KeySpec> key_specs = {};
  bool is_container = false;  // has subcommands: CLIENT, CONFIG, XGROUP, ...
  KeyRule key_rule = KeyRule::kSpecs;

  bool has(std::uint32_t mask) const { return (flags & mask) != 0; }
};

}  // namespace heatsink::resp
