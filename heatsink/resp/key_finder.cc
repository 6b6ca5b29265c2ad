// SPDX-License-Identifier: Apache-2.0
#include "heatsink/resp/key_finder.h"

#include <algorithm>
#include <optional>

#include "heatsink/resp/decimal.h"
#include "heatsink/resp/folded_name.h"
#include "heatsink/resp/key_grammar.h"

namespace heatsink::resp {
namespace {

// Positions have 64 bits and specs 32, and no count above the number of arguments is accepted:
// nothing here overflows.
struct KeyRange {
  std::int64_t first, last, step;
};

std::int64_t count_of(Args args) { return static_cast<std::int64_t>(args.size()); }

Keys worse(Keys a, Keys b) { return std::max(a, b); }

// What the call may do to keys that `spec` covers but the call does not show.
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
  switch (command.key_rule) {
    case KeyRule::kOneRead:
      return one_key(command, args, false, refs);
    case KeyRule::kOneWrite:
      return one_key(command, args, true, refs);
    case KeyRule::kSpecs:
      return by_specs(command, args, refs);
    case KeyRule::kNone:
      return Keys::kKnown;
    case KeyRule::kAny:
      return Keys::kUnknown;
    case KeyRule::kFunction:
      return worse(by_specs(command, args, refs), Keys::kUnknown);
    case KeyRule::kSort:
      return sort_keys(command, args, refs);
    case KeyRule::kMigrate:
      return migrate_keys(args, refs);
    case KeyRule::kGeoRadius:
      return geo_radius_keys(args, refs);
    case KeyRule::kBitField:
      return bit_field_keys(args, refs);
    case KeyRule::kStreams:
      return stream_keys(command, args, refs);
  }
  return Keys::kUnknown;
}

}  // namespace heatsink::resp
