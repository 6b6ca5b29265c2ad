// SPDX-License-Identifier: Apache-2.0
// The reads that are served from local copies, one row per command: the allow-list.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "heatsink/base/hash.h"
#include "heatsink/cache/read.h"
#include "heatsink/resp/command_table.h"
#include "heatsink/resp/resp2_form.h"

namespace heatsink::copies {

// How a command that may name several keys is put together from reads of one key each.
enum class KeyCombination : std::uint8_t {
  kNone,   // it names one key, its first argument
  kArray,  // MGET: the replies in order
  kSum,    // EXISTS: the sum of the numbers
};

enum class Nulls : std::uint8_t {
  kString,           // of a string or a number that is not there: "$-1" in RESP2
  kArray,            // of an array (XRANGE with COUNT 0): "*-1"
  kArrayIfTwoWords,  // of an array if two arguments follow the key: ZRANK k m WITHSCORE
};

// A command is on the list if its reply depends on the value of its keys and on nothing else: not
// on time (TTL), chance (SRANDMEMBER), the server's internals (OBJECT, DUMP, SCAN cursors) or on
// keys that it does not name first (SORT_RO, LCS, SINTER). The order of SMEMBERS and its kin is the
// server's at the time of the fill; it is not part of what they promise
// (docs/decisions/0008-what-is-served-locally.md).
struct LocalRead {
  std::string_view name;
  std::uint16_t number = 0;  // its place in the list; cache::Read::command
  // The reply is a number or one word whatever the key holds: it may be asked for unseen.
  bool small = false;
  bool of_hash = false;     // a field may expire by itself, on servers that know HPEXPIRE
  bool unordered = false;   // the order of what is in the reply is the server's affair
  bool flat_pairs = false;  // see resp::Resp2Form
  Nulls nulls = Nulls::kString;
  KeyCombination combination = KeyCombination::kNone;

  resp::Resp2Form form(std::size_t arguments) const {
    return {flat_pairs,
            nulls == Nulls::kArray || (nulls == Nulls::kArrayIfTwoWords && arguments == 2)};
  }
};

inline constexpr std::size_t kLocalReads = 51;
std::span<const LocalRead, kLocalReads> local_reads();

// Null: never served locally. Also null for a command of that name that is not as it should be:
// this server may mean another thing by it. Not for every request: keep it.
const LocalRead* local_read_of(const resp::Command& command);

// The read of one key that answers for each key of `read`: GET for MGET, itself for all others.
const LocalRead& read_of_each(const LocalRead& read);

// More keys than this in one MGET or EXISTS: it goes to the server.
inline constexpr std::size_t kJoinedKeysMax = 64;

// Longer requests are not worth keeping.
inline constexpr std::size_t kReadArgumentsMax = 64;
inline constexpr std::size_t kReadArgumentBytesMax = 1024;
bool worth_keeping(const cache::Read& read);

// One read of one key, as a number: who waits for it, and what is known of its reply. Those that
// share a number are told apart when it matters.
struct ReadHash {
  std::uint64_t value = 0;
  friend bool operator==(ReadHash, ReadHash) = default;
};
ReadHash hash_read(KeyHash key, const cache::Read& read);

}  // namespace heatsink::copies
