// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/local_reads.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace heatsink::copies {

using redis::FieldNames;

namespace {

template <std::size_t kRows>
constexpr std::array<LocalRead, kRows> numbered(const LocalRead (&rows)[kRows]) {
  static_assert(kRows <= kLocalReadsMax, "raise kLocalReadsMax");
  std::array<LocalRead, kRows> out = std::to_array(rows);
  for (std::size_t i = 0; i < kRows; ++i) out[i].number = static_cast<std::uint16_t>(i);
  return out;
}

// GET comes first: cache::Read{} means GET.
constexpr auto kReads = numbered({
    {.name = "get"},
    {.name = "mget", .combination = KeyCombination::kArray},
    {.name = "strlen", .small = true},
    {.name = "getrange"},
    {.name = "substr"},
    {.name = "getbit", .small = true},
    {.name = "bitcount", .small = true},
    {.name = "bitpos", .small = true},
    {.name = "bitfield_ro"},

    {.name = "exists", .small = true, .combination = KeyCombination::kSum},
    {.name = "type", .small = true},
    {.name = "expiretime", .small = true},
    {.name = "pexpiretime", .small = true},

    {.name = "hget", .fields = FieldNames::kArguments},
    {.name = "hmget", .fields = FieldNames::kArguments},
    {.name = "hgetall", .fields = FieldNames::kReply, .unordered = true},
    {.name = "hkeys", .fields = FieldNames::kReply, .unordered = true},
    {.name = "hvals", .fields = FieldNames::kApart, .unordered = true},
    {.name = "hlen", .small = true},
    {.name = "hexists", .small = true, .fields = FieldNames::kArguments},
    {.name = "hstrlen", .small = true, .fields = FieldNames::kArguments},

    {.name = "llen", .small = true},
    {.name = "lindex"},
    {.name = "lrange"},
    {.name = "lpos"},

    {.name = "scard", .small = true},
    {.name = "sismember", .small = true},
    {.name = "smismember"},
    {.name = "smembers", .unordered = true},

    {.name = "zcard", .small = true},
    {.name = "zcount", .small = true},
    {.name = "zlexcount", .small = true},
    {.name = "zscore", .small = true},
    {.name = "zmscore"},
    {.name = "zrank", .small = true, .nulls = Nulls::kArrayIfTwoWords},
    {.name = "zrevrank", .small = true, .nulls = Nulls::kArrayIfTwoWords},
    {.name = "zrange", .flat_pairs = true},
    {.name = "zrevrange", .flat_pairs = true},
    {.name = "zrangebyscore", .flat_pairs = true},
    {.name = "zrevrangebyscore", .flat_pairs = true},
    {.name = "zrangebylex"},
    {.name = "zrevrangebylex"},

    {.name = "geopos", .nulls = Nulls::kArray},
    {.name = "geodist", .small = true},
    {.name = "geohash"},
    {.name = "geosearch"},
    {.name = "georadius_ro"},
    {.name = "georadiusbymember_ro"},

    {.name = "xlen", .small = true},
    {.name = "xrange", .nulls = Nulls::kArray},
    {.name = "xrevrange", .nulls = Nulls::kArray},
});

}  // namespace

std::span<const LocalRead> local_reads() { return kReads; }

const LocalRead* local_read_of(const resp::Command& command) {
  const auto* row = std::find_if(kReads.begin(), kReads.end(),
                                 [&](const LocalRead& read) { return read.name == command.name; });
  if (row == kReads.end()) return nullptr;
  // A module or a renamed command may use a known name. Its flags then differ.
  const bool as_known = command.has(resp::kReadonly) && command.first_key == 1 &&
                        !command.has(resp::kNondeterministicOutput | resp::kModule |
                                     resp::kMayReplicate | resp::kBlocking);
  return as_known ? row : nullptr;
}

std::string upper_name(const LocalRead& read) {
  std::string name(read.name);
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

const LocalRead& read_of_each(const LocalRead& read) {
  return read.combination == KeyCombination::kArray ? kReads.front() : read;
}

bool worth_keeping(const cache::Read& read) {
  if (read.arguments.size() > kReadArgumentsMax) return false;
  std::size_t bytes = 0;
  for (const std::string_view argument : read.arguments) bytes += argument.size();
  return bytes <= kReadArgumentBytesMax;
}

// The hash of each argument seeds the next one. The first seed is the key's hash, which has the
// process's secret seed.
ReadHash hash_read(KeyHash key, const cache::Read& read) {
  std::uint64_t hash = key.value ^ (read.command * 0x9E3779B97F4A7C15ULL);
  for (const std::string_view argument : read.arguments) hash = hash_name(argument, hash).value;
  return {hash};
}

}  // namespace heatsink::copies
