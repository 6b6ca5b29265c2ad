// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/key_finder.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "heatsink/resp/decimal.h"
#include "heatsink/resp/folded_name.h"

namespace heatsink::resp {
namespace {

using Args = std::span<const std::string_view>;

KeyRef read_of(std::size_t arg) { return {static_cast<std::uint32_t>(arg), false}; }
KeyRef write_of(std::size_t arg) { return {static_cast<std::uint32_t>(arg), true}; }

// "SORT k BY nosort" and "GET #" read no key but k.
bool names_keys(std::string_view pattern) { return pattern.find('*') != std::string_view::npos; }

// The number of words of the option that begins with `word`, including it.
std::size_t words_of_stream_option(std::string_view word) {
  if (is_word(word, "group")) return 3;
  return is_word(word, "count") || is_word(word, "block") || is_word(word, "claim") ? 2 : 1;
}

// The functions below implement find_keys() for the KeyPositions of their names, and append to an
// empty `refs`.

// SORT key [BY pattern] [LIMIT offset count] [GET pattern ...] [ASC | DESC] [ALPHA] [STORE
// destination]. Of several STOREs the server obeys the last. What stands behind a word is never
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

// Positions have 64 bits and specs 32, and no count above the number of arguments is accepted:
// nothing here overflows.
struct KeyRange {
  std::int64_t first, last, step;
};

std::int64_t count_of(Args args) { return static_cast<std::int64_t>(args.size()); }

Keys worse(Keys a, Keys b) { return std::max(a, b); }

// The accesses of the call to keys that `spec` covers but the call does not show.
Keys missed(const KeySpec& spec) { return spec.writes ? Keys::kUnknown : Keys::kUnknownReads; }

Keys any_key(const Command& command) {
  return command.has(kReadonly) ? Keys::kUnknownReads : Keys::kUnknown;
}

// The position after the keyword; nothing if it does not occur.
std::optional<std::int64_t> behind_keyword(const KeySpec& spec, Args args) {
  const std::int64_t count = count_of(args);
  const bool forward = spec.index >= 0;
  const std::int64_t step = forward ? 1 : -1;
  for (std::int64_t i = forward ? spec.index : count + spec.index; i >= 1 && i < count; i += step) {
    if (is_word(args[static_cast<std::size_t>(i)], spec.keyword)) return i + 1;
  }
  return std::nullopt;
}

// The call's number of keys; nothing if it is not a number from 0 to the number of arguments.
std::optional<std::int64_t> key_count(Args args, std::int64_t at) {
  if (at < 1 || at >= count_of(args)) return std::nullopt;
  const std::optional<std::int64_t> number = parse_decimal(args[static_cast<std::size_t>(at)]);
  if (!number || *number < 0 || *number > count_of(args)) return std::nullopt;
  return number;
}

// Not checked against the arguments yet; nothing if the call's own number of keys is invalid.
std::optional<KeyRange> range_of(const KeySpec& spec, Args args, std::int64_t start) {
  if (spec.find == KeySpec::Find::kKeynum) {
    const std::optional<std::int64_t> count = key_count(args, start + spec.keynum_index);
    if (!count) return std::nullopt;
    const std::int64_t first = start + spec.first_key;
    return KeyRange{first, first + (*count - 1) * spec.keynum_step, spec.keynum_step};
  }
  std::int64_t last = start + spec.last_key;
  if (spec.last_key < 0) {
    last = spec.limit > 1 ? start + (count_of(args) - start) / spec.limit + spec.last_key
                          : count_of(args) + spec.last_key;
  }
  if (last < start) return std::nullopt;
  return KeyRange{start, last, spec.key_step};
}

Keys spec_keys(const KeySpec& spec, Args args, std::vector<KeyRef>& refs) {
  if (spec.not_key) return Keys::kKnown;
  if (spec.begin == KeySpec::Begin::kUnknown || spec.find == KeySpec::Find::kUnknown)
    return missed(spec);
  const std::optional<std::int64_t> start =
      spec.begin == KeySpec::Begin::kIndex ? spec.index : behind_keyword(spec, args);
  if (!start) return Keys::kKnown;
  const std::optional<KeyRange> range = range_of(spec, args, *start);
  if (!range || range->first < 1 || range->step < 1) return missed(spec);
  const std::int64_t last = std::min(range->last, count_of(args) - 1);
  for (std::int64_t i = range->first; i <= last; i += range->step) {
    refs.push_back({static_cast<std::uint32_t>(i), spec.writes});
  }
  return spec.incomplete || last < range->last ? missed(spec) : Keys::kKnown;
}

// Two specs may cover the same argument, or come in another order than the arguments.
void put_in_order(std::vector<KeyRef>& refs) {
  const auto before = [](const KeyRef& a, const KeyRef& b) { return a.arg < b.arg; };
  const auto not_before = [](const KeyRef& a, const KeyRef& b) { return a.arg >= b.arg; };
  if (std::adjacent_find(refs.begin(), refs.end(), not_before) == refs.end()) return;
  std::sort(refs.begin(), refs.end(), before);
  auto kept = refs.begin();
  for (auto next = refs.begin() + 1; next != refs.end(); ++next) {
    if (next->arg == kept->arg) {
      kept->write |= next->write;
    } else {
      *++kept = *next;
    }
  }
  refs.erase(kept + 1, refs.end());
}

Keys without_specs(const Command& command, Args args) {
  if (command.is_container) return args.size() > 1 ? Keys::kUnknown : Keys::kKnown;
  if (command.has(kWrite | kReadonly | kModule)) return any_key(command);
  return Keys::kKnown;
}

Keys by_specs(const Command& command, Args args, std::vector<KeyRef>& refs) {
  if (command.key_specs.empty()) return without_specs(command, args);
  Keys keys = Keys::kKnown;
  for (const KeySpec& spec : command.key_specs) keys = worse(keys, spec_keys(spec, args, refs));
  put_in_order(refs);
  if (refs.empty() && command.has(kNoMandatoryKeys)) keys = worse(keys, any_key(command));
  return keys;
}

Keys one_key(const Command& command, Args args, bool write, std::vector<KeyRef>& refs) {
  const auto arg = static_cast<std::uint32_t>(command.first_key);
  if (arg >= args.size()) return write ? Keys::kUnknown : Keys::kUnknownReads;
  refs.push_back({arg, write});
  return Keys::kKnown;
}

}  // namespace

Keys find_keys(const Command& command, Args args, std::vector<KeyRef>& refs) {
  refs.clear();
  switch (command.key_positions) {
    case KeyPositions::kOneRead:
      return one_key(command, args, false, refs);
    case KeyPositions::kOneWrite:
      return one_key(command, args, true, refs);
    case KeyPositions::kSpecs:
      return by_specs(command, args, refs);
    case KeyPositions::kNone:
      return Keys::kKnown;
    case KeyPositions::kAny:
      return Keys::kUnknown;
    case KeyPositions::kFunction:
      return worse(by_specs(command, args, refs), Keys::kUnknown);
    case KeyPositions::kSort:
      return sort_keys(command, args, refs);
    case KeyPositions::kMigrate:
      return migrate_keys(args, refs);
    case KeyPositions::kGeoRadius:
      return geo_radius_keys(args, refs);
    case KeyPositions::kBitField:
      return bit_field_keys(args, refs);
    case KeyPositions::kStreams:
      return stream_keys(command, args, refs);
  }
  return Keys::kUnknown;
}

}  // namespace heatsink::resp
