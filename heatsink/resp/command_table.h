// SPDX-License-Identifier: Apache-2.0
// What is known of each command: flags, arity, where its keys stand and what it does to them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/resp/value.h"

namespace heatsink::resp {

// Bits of Command::flags, named as in the server's COMMAND reply.
enum CommandFlag : std::uint32_t {
  kWrite = 1u << 0, kReadonly = 1u << 1, kDenyOom = 1u << 2, kAdmin = 1u << 3, kPubSub = 1u << 4,
  kNoScript = 1u << 5, kBlocking = 1u << 6, kLoading = 1u << 7, kStale = 1u << 8, kSkipMonitor = 1u << 9,
  kAsking = 1u << 10, kFast = 1u << 11, kNoAuth = 1u << 12, kMayReplicate = 1u << 13, kMovableKeys = 1u << 14,
  kAllowBusy = 1u << 15, kNoAsyncLoading = 1u << 16, kNoMulti = 1u << 17, kSkipSlowlog = 1u << 18,
  kNoMandatoryKeys = 1u << 19, kModule = 1u << 20,
  kNondeterministicOutput = 1u << 21,  // from the command tips
};

// A key specification as COMMAND gives it since Redis 7.0 (https://redis.io/docs/reference/key-specs/).
struct KeySpec {
  enum class Begin : std::uint8_t { kIndex, kKeyword, kUnknown };
  enum class Find : std::uint8_t { kRange, kKeynum, kUnknown };
  Begin begin = Begin::kUnknown;
  std::int32_t index = 0;       // kIndex: position; kKeyword: where the search starts (negative: from the end)
  std::string keyword;
  Find find = Find::kUnknown;
  std::int32_t last_key = 0, key_step = 1, limit = 0;               // kRange
  std::int32_t keynum_index = 0, first_key = 0, keynum_step = 1;    // kKeynum
  bool reads = false;       // RO, RW or "access"
  bool writes = false;      // RW, OW, RM, or "insert", "update", "delete"
  bool not_key = false;     // e.g. SPUBLISH's channel
  bool incomplete = false;  // the spec may miss keys
};

struct Command {
  std::string name;  // lower case; a subcommand is "client|id"
  std::int32_t arity = 0;
  std::uint32_t flags = 0;
  std::int32_t first_key = 0, last_key = 0, key_step = 0;  // the legacy triple, used where there are no key specs
  std::vector<KeySpec> key_specs;
  bool is_container = false;  // has subcommands: CLIENT, CONFIG, XGROUP, ...

  bool has(std::uint32_t mask) const { return (flags & mask) != 0; }
};

struct KeyRef {
  std::uint32_t arg;  // index into args
  bool write;         // the command may change this key
};

enum class Keys : std::uint8_t {
  kKnown,    // `refs` are all the keys (perhaps none)
  kUnknown,  // there may be others: a write of this kind counts as a write of every key
};

// Immutable once built: any number of threads may read one.
class CommandTable {
 public:
  // The table of Redis 7.0 compiled in, for servers that forbid COMMAND. Shared, never freed.
  static const CommandTable& built_in();

  // From the reply to COMMAND (Redis 2.8.13 .. 8, Valkey; RESP2 or RESP3). Commands that the server
  // lists without key specs (before 7.0) take those of built_in() where it knows the name.
  static Result<CommandTable> from_reply(const Value& reply);

  // The command that args[0] (and, in a container, args[1]) names, in any case; null if unknown. A
  // container whose subcommand is unknown or missing gives the container itself. No allocation;
  // REQUIRES args not empty. Cost: one hash of the name (two in a container).
  const Command* find(std::span<const std::string_view> args) const;
  const Command* find_name(std::string_view full_name) const;  // "get", "client|id"

  std::size_t size() const;

 private:
  struct Index;
  std::shared_ptr<const Index> index_;
};

// The keys of one call, in order of appearance, into `refs` (cleared first). Never fails: a call whose
// arguments make no sense (the server will refuse it) gives what can be found, kUnknown for a write.
// Covers what specs cannot say: SORT ... STORE / BY / GET, MIGRATE ... KEYS, GEORADIUS ... STORE,
// EVAL / EVALSHA / FCALL numkeys (0 keys: kUnknown unless the command is read-only), XREAD, MEMORY USAGE, OBJECT.
// REQUIRES `command` to be what the table found for `args`.
Keys find_keys(const Command& command, std::span<const std::string_view> args, std::vector<KeyRef>& refs);

}  // namespace heatsink::resp
