// SPDX-License-Identifier: Apache-2.0
// The allow-list of reads that local copies may serve, one row per command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "heatsink/base/hash.h"
#include "heatsink/cache/read.h"
#include "heatsink/redis/fill.h"
#include "heatsink/resp/command_table.h"
#include "heatsink/resp/resp2_form.h"

namespace heatsink::copies {

// How the reply of a command with several keys is built from reads of one key each.
enum class KeyCombination : std::uint8_t {
  kNone,   // one key, the first argument
  kArray,  // MGET: the replies in order
  kSum,    // EXISTS: the sum of the replies
};

enum class Nulls : std::uint8_t {
  kString,           // a missing string or number: "$-1" in RESP2
  kArray,            // a missing array (XRANGE with COUNT 0): "*-1"
  kArrayIfTwoWords,  // a missing array if two arguments follow the key: ZRANK k m WITHSCORE
};

// A command is on the list if its reply depends only on the values of its keys. It must not depend
// on time (TTL), chance (SRANDMEMBER), the server's internals (OBJECT, DUMP, SCAN cursors) or keys
// that it does not name first (SORT_RO, LCS, SINTER). SMEMBERS and similar commands promise no
// order; a copy has the server's order at the time of the fill
// (docs/decisions/0008-what-is-served-locally.md).
struct LocalRead {
  std::string_view name;
  std::uint16_t number = 0;  // its index in the list; cache::Read::command
  // The reply is a number or one word whatever the key holds, so a fill of unknown size is safe.
  bool small = false;
  redis::FieldNames fields = redis::FieldNames::kNone;  // whose expiry changes the reply
  bool unordered = false;   // the server chooses the order of the elements
  bool flat_pairs = false;  // see resp::Resp2Form
  Nulls nulls = Nulls::kString;
  KeyCombination combination = KeyCombination::kNone;

  resp::Resp2Form form(std::size_t arguments) const {
    return {flat_pairs,
            nulls == Nulls::kArray || (nulls == Nulls::kArrayIfTwoWords && arguments == 2)};
  }
};

// Room for rows, so that a table with a cell per row needs no allocation.
inline constexpr std::size_t kLocalReadsMax = 64;
std::span<const LocalRead> local_reads();
std::string upper_name(const LocalRead& read);  // "GET", as in other texts for people

// Null: never served locally, either unknown or with unexpected properties: this server may use the
// name for another command. O(rows), so keep the result.
const LocalRead* local_read_of(const resp::Command& command);

// The read that answers for each key of `read`: GET for MGET, `read` itself for all others.
const LocalRead& read_of_each(const LocalRead& read);

// An MGET or EXISTS with more keys goes to the server.
inline constexpr std::size_t kJoinedKeysMax = 64;

// Reads with more arguments, or longer ones, are not cached.
inline constexpr std::size_t kReadArgumentsMax = 64;
inline constexpr std::size_t kReadArgumentBytesMax = 1024;
bool worth_keeping(const cache::Read& read);

// One read of one key, as a number, for tables of waiting clients and of known replies. Collisions
// are detected where they matter.
struct ReadHash {
  std::uint64_t value = 0;
  friend bool operator==(ReadHash, ReadHash) = default;
};
ReadHash hash_read(KeyHash key, const cache::Read& read);

}  // namespace heatsink::copies
