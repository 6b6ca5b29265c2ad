// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/key_grammar.h"

#include <optional>

#include "heatsink/resp/folded_name.h"

namespace heatsink::resp {
namespace {

KeyRef read_of(std::size_t arg) { return {static_cast<std::uint32_t>(arg), false}; }
KeyRef write_of(std::size_t arg) { return {static_cast<std::uint32_t>(arg), true}; }

// "SORT k BY nosort" and "GET #" read no key but k.
bool names_keys(std::string_view pattern) { return pattern.find('*') != std::string_view::npos; }

// The number of words of the option that begins with `word`, including it.
std::size_t words_of_stream_option(std::string_view word) {
  if (is_word(word, "group")) return 3;
  return is_word(word, "count") || is_word(word, "block") || is_word(word, "claim") ? 2 : 1;
}

}  // namespace

// SORT key [BY pattern] [LIMIT offset count] [GET pattern ...] [ASC | DESC] [ALPHA] [STORE
// destination] Of several STOREs the server obeys the last. What stands behind a word is never
// taken for a word: its own COMMAND GETKEYS is wrong about "SORT k STORE store ALPHA"
// (Redis 7.0.15).
Keys sort_keys(const Command& command, Args args, std::vector<KeyRef>& refs) {
  if (args.size() < 2) return Keys::kUnknown;
  refs.push_back(read_of(1));
  Keys keys = Keys::kKnown;
  std::optional<std::size_t> destination;
  for (std::size_t i = 2; i + 1 < args.size(); ++i) {
    if (is_word(args[i], "limit")) {
      i += 2;
    } else if (is_word(args[i], "by") || is_word(args[i], "get")) {
      if (names_keys(args[++i])) keys = Keys::kUnknownReads;
    } else if (!command.has(kReadonly) && is_word(args[i], "store")) {
      destination = ++i;
    }
  }
  if (destination) refs.push_back(write_of(*destination));
  return keys;
}

// MIGRATE host port key|"" destination-db timeout [COPY] [REPLACE] [AUTH password | AUTH2 user
// password] [KEYS key ...]
Keys migrate_keys(Args args, std::vector<KeyRef>& refs) {
  constexpr std::size_t kKey = 3, kOptions = 6;
  if (args.size() < kOptions) return Keys::kUnknown;
  std::size_t first = kKey, end = kKey + 1;
  for (std::size_t i = kOptions; i < args.size() && args[kKey].empty(); ++i) {
    if (is_word(args[i], "auth")) {
      i += 1;
    } else if (is_word(args[i], "auth2")) {
      i += 2;
    } else if (is_word(args[i], "keys")) {
      first = i + 1;
      end = args.size();
      break;
    }
  }
  for (std::size_t i = first; i < end; ++i) refs.push_back(write_of(i));
  return Keys::kKnown;
}

// GEORADIUS key longitude latitude radius unit [options] [STORE key | STOREDIST key]; BYMEMBER has
// one argument less in front. In a valid call neither the unit nor an option's own argument is one
// of these words. The server obeys the last STORE or STOREDIST, but its specs name the first of
// each: here all of them are keys.
Keys geo_radius_keys(Args args, std::vector<KeyRef>& refs) {
  constexpr std::size_t kOptions = 5;
  if (args.size() < kOptions) return Keys::kUnknown;
  refs.push_back(read_of(1));
  for (std::size_t i = kOptions; i + 1 < args.size(); ++i) {
    if (is_word(args[i], "store") || is_word(args[i], "storedist")) refs.push_back(write_of(++i));
  }
  return Keys::kKnown;
}

// BITFIELD key [GET type offset | OVERFLOW how | SET type offset value | INCRBY type offset
// increment] ...
Keys bit_field_keys(Args args, std::vector<KeyRef>& refs) {
  if (args.size() < 2) return Keys::kUnknown;
  std::size_t i = 2;
  while (i < args.size()) {
    if (is_word(args[i], "get") && args.size() - i > 2) {
      i += 3;
    } else if (is_word(args[i], "overflow") && args.size() - i > 1) {
      i += 2;
    } else {
      break;
    }
  }
  const bool only_gets = i >= args.size();
  refs.push_back(only_gets ? read_of(1) : write_of(1));
  return Keys::kKnown;
}

// XREAD [COUNT n] [BLOCK ms] STREAMS key ... id ...
// XREADGROUP GROUP group consumer [COUNT n] [BLOCK ms] [CLAIM ms] [NOACK] STREAMS key ... id ...
// A group or consumer may be called "streams", so the words in front are stepped over by their
// lengths.
Keys stream_keys(const Command& command, Args args, std::vector<KeyRef>& refs) {
  const bool write = command.has(kWrite);
  const Keys refused = write ? Keys::kUnknown : Keys::kUnknownReads;
  std::size_t i = 1;
  while (i < args.size() && !is_word(args[i], "streams")) {
    i += words_of_stream_option(args[i]);
  }
  if (i >= args.size()) return refused;
  const std::size_t first = i + 1;
  const std::size_t keys_and_ids = args.size() - first;
  for (std::size_t k = 0; k < keys_and_ids / 2; ++k) {
    refs.push_back(write ? write_of(first + k) : read_of(first + k));
  }
  return keys_and_ids == 0 || keys_and_ids % 2 != 0 ? refused : Keys::kKnown;
}

}  // namespace heatsink::resp
