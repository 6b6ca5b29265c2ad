// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/wire.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "heatsink/base/hash.h"
#include "heatsink/detect/wire_bytes.h"

namespace heatsink::detect {
namespace {

constexpr std::string_view kMagic = "HSum";
constexpr std::size_t kHeaderBytes = kMagic.size() + 1 + 8;
constexpr std::size_t kTotalsBytesMax = 256;  // everything before the keys
constexpr std::size_t kKeysReserved = 256;    // whatever a damaged number of keys says
constexpr Nanos kWindowMax{std::int64_t{1} << 53};

enum SummaryFlag : std::uint8_t { kCoversWindow = 1, kSampled = 2 };
enum KeyFlag : std::uint8_t {
  kTruncated = 1,
  kDb = 2,
  kWrites = 4,
  kHits = 8,
  kBytes = 16,
  kTallies = 32,
  kReads = 64,
};

std::uint64_t checksum(std::string_view bytes) { return hash_name(bytes, 0).value; }

std::uint64_t capped_for_wire(std::uint64_t count) { return std::min(count, kWireCountMax); }

// ---- writing

bool can_travel(const KeyCount& key) {
  return key.key.size() <= kKeyBytesMax && (!key.key_truncated || key.digest != 0);
}

bool goes_before(const KeyCount* a, const KeyCount* b) {
  if (a->high != b->high) return a->high > b->high;
  if (a->key != b->key) return a->key < b->key;
  return a->db != b->db ? a->db < b->db : a->digest < b->digest;
}

void write_tallies(WireWriter& out, const std::vector<Tally>& tallies) {
  const std::size_t count = std::min(tallies.size(), kTalliesMax);
  out.number(count);
  for (std::size_t i = 0; i < count; ++i) {
    out.string(std::string_view(tallies[i].name).substr(0, kTallyBytesMax));
    out.number(capped_for_wire(tallies[i].low));
    out.number(capped_for_wire(tallies[i].high) - capped_for_wire(tallies[i].low));
  }
}

// For requests the reads follow from the other counts, so they are left out.
bool reads_follow(const KeyCount& key) {
  return key.writes <= key.low && key.reads == key.low - key.writes && key.low <= kWireCountMax;
}

std::uint8_t flags_of(const KeyCount& key) {
  const auto flag = [](bool holds, KeyFlag f) { return holds ? unsigned{f} : 0U; };
  return static_cast<std::uint8_t>(flag(key.key_truncated, kTruncated) | flag(key.db != 0, kDb) |
                                   flag(key.writes != 0, kWrites) | flag(key.hits != 0, kHits) |
                                   flag(key.bytes != 0, kBytes) |
                                   flag(!key.commands.empty() || !key.clients.empty(), kTallies) |
                                   flag(!reads_follow(key), kReads));
}

void write_key(WireWriter& out, const KeyCount& key, std::uint64_t high_before) {
  const std::uint8_t flags = flags_of(key);
  out.byte(flags);
  out.string(key.key);
  if ((flags & kTruncated) != 0) out.fixed64(key.digest);
  out.number(high_before - capped_for_wire(key.high));
  out.number(capped_for_wire(key.high) - capped_for_wire(key.low));
  if ((flags & kDb) != 0) out.number(key.db);
  if ((flags & kWrites) != 0) out.number(capped_for_wire(key.writes));
  if ((flags & kHits) != 0) out.number(capped_for_wire(key.hits));
  if ((flags & kBytes) != 0) out.number(capped_for_wire(key.bytes));
  if ((flags & kReads) != 0) out.number(capped_for_wire(key.reads));
  if ((flags & kTallies) == 0) return;
  write_tallies(out, key.commands);
  write_tallies(out, key.clients);
}

struct Written {
  WireWriter bytes;
  std::size_t count = 0;
  std::uint64_t left_out_high = 0;  // the largest high of the keys that are left out
};

Written write_keys(const std::vector<KeyCount>& keys) {
  std::vector<const KeyCount*> order;
  order.reserve(keys.size());
  for (const KeyCount& key : keys) order.push_back(&key);
  std::sort(order.begin(), order.end(), goes_before);
  Written out;
  std::uint64_t high = kWireCountMax;
  for (const KeyCount* key : order) {
    const std::size_t size_before = out.bytes.size();
    if (out.count < kWireKeysMax && can_travel(*key)) {
      write_key(out.bytes, *key, high);
      if (out.bytes.size() <= kWireBytesMax - kHeaderBytes - kTotalsBytesMax) {
        high = capped_for_wire(key->high);
        ++out.count;
        continue;
      }
      out.bytes.cut_back_to(size_before);
    }
    out.left_out_high = std::max(out.left_out_high, key->high);
  }
  return out;
}

void write_totals(WireWriter& out, const Summary& summary) {
  out.number(static_cast<std::uint64_t>(summary.window.count()));
  out.number(static_cast<std::uint64_t>(summary.covered.count()));
  out.byte(static_cast<std::uint8_t>((summary.covers_window ? kCoversWindow : 0) |
                                     (summary.sampled ? kSampled : 0)));
  out.byte(static_cast<std::uint8_t>(summary.dimension));
  for (const std::uint64_t count :
       {summary.requests, summary.reads, summary.writes, summary.hits, summary.bytes}) {
    out.number(capped_for_wire(count));
  }
}

// ---- reading

Error not_a_summary(const std::string& why) {
  return {ErrorCode::kProtocol, "not a hot-key summary of heatsink: " + why};
}

void read_totals(WireReader& in, Summary& out) {
  out.window = Nanos(in.number(static_cast<std::uint64_t>(kWindowMax.count())));
  out.covered = Nanos(in.number(static_cast<std::uint64_t>(out.window.count())));
  const std::uint64_t flags = in.number(kCoversWindow | kSampled);
  out.covers_window = (flags & kCoversWindow) != 0;
  out.sampled = (flags & kSampled) != 0;
  out.dimension = static_cast<Dimension>(in.number(static_cast<unsigned>(Dimension::kMisses)));
  out.requests = in.number(kWireCountMax);
  out.reads = in.number(out.requests);
  out.writes = in.number(out.requests);
  out.hits = in.number(out.reads);
  out.bytes = in.number(kWireCountMax);
  out.absent_max = in.number(kWireCountMax);
}

std::vector<Tally> read_tallies(WireReader& in, std::uint64_t accesses) {
  std::vector<Tally> tallies;
  for (std::uint64_t left = in.number(kTalliesMax); left > 0 && !in.failed(); --left) {
    Tally tally{std::string(in.string(kTallyBytesMax)), in.number(kWireCountMax)};
    tally.high = tally.low + in.number(kWireCountMax - tally.low);
    in.require(tally.low <= accesses, "a tally is larger than the number of accesses");
    accesses -= std::min(tally.low, accesses);
    for (const Tally& other : tallies)
      in.require(other.name != tally.name, "a tally is listed twice");
    tallies.push_back(std::move(tally));
  }
  return tallies;
}

KeyHash hash_of(const KeyCount& key, std::uint64_t seed) {
  if (!key.key_truncated) return in_db(hash_name(key.key, seed), key.db);
  WireWriter name;
  name.fixed64(key.digest);
  return in_db(hash_name(name.bytes(), ~seed), key.db);
}

KeyCount read_key(WireReader& in, std::uint64_t high_before, std::uint64_t seed) {
  KeyCount key;
  const std::uint8_t flags = in.byte();
  in.require(flags < 128, "a key has a flag that version 1 does not define");
  key.key = in.string(kKeyBytesMax);
  key.key_truncated = (flags & kTruncated) != 0;
  if (key.key_truncated) key.digest = in.fixed64();
  in.require(key.key_truncated == (key.digest != 0), "a truncated name has no digest");
  key.high = high_before - in.number(high_before);
  key.low = key.high - in.number(key.high);
  if ((flags & kDb) != 0) key.db = static_cast<std::uint32_t>(in.number(UINT32_MAX));
  if ((flags & kWrites) != 0) key.writes = in.number(kWireCountMax);
  if ((flags & kHits) != 0) key.hits = in.number(kWireCountMax);
  if ((flags & kBytes) != 0) key.bytes = in.number(kWireCountMax);
  if ((flags & kReads) != 0) {
    key.reads = in.number(kWireCountMax);
  } else {
    in.require(key.writes <= key.low, "a key has more writes than accesses");
    key.reads = key.low - std::min(key.low, key.writes);
  }
  in.require(key.hits <= key.reads, "a key has more hits than reads");
  if ((flags & kTallies) != 0) {
    key.commands = read_tallies(in, key.reads + key.writes);
    key.clients = read_tallies(in, key.reads + key.writes);
  }
  key.hash = hash_of(key, seed);
  return key;
}

bool all_differ(const std::vector<KeyCount>& keys) {
  std::vector<std::uint64_t> hashes;
  hashes.reserve(keys.size());
  for (const KeyCount& key : keys) hashes.push_back(key.hash.value);
  std::sort(hashes.begin(), hashes.end());
  return std::adjacent_find(hashes.begin(), hashes.end()) == hashes.end();
}

// Sorts their places first: keys are too large to be moved more than once.
void sort_keys(std::vector<KeyCount>& keys) {
  struct Place {
    std::uint64_t high, hash;
    std::size_t index;
  };
  std::vector<Place> order;
  order.reserve(keys.size());
  for (const KeyCount& key : keys) order.push_back({key.high, key.hash.value, order.size()});
  std::sort(order.begin(), order.end(), [](const Place& a, const Place& b) {
    return a.high != b.high ? a.high > b.high : a.hash < b.hash;
  });
  std::vector<KeyCount> sorted;
  sorted.reserve(keys.size());
  for (const Place& place : order) sorted.push_back(std::move(keys[place.index]));
  keys = std::move(sorted);
}

void read_keys(WireReader& in, std::uint64_t seed, std::vector<KeyCount>& keys) {
  std::uint64_t high = kWireCountMax;
  std::uint64_t left = in.number(kWireKeysMax);
  if (left <= kKeysReserved) keys.reserve(static_cast<std::size_t>(left));
  for (; left > 0 && !in.failed(); --left) {
    keys.push_back(read_key(in, high, seed));
    high = keys.back().high;
  }
  in.require(all_differ(keys), "a key is listed twice");
  sort_keys(keys);
}

// Newer builds may add sections that this build can ignore.
void pass_over_sections(WireReader& in) {
  while (!in.at_end() && !in.failed()) {
    in.number(UINT64_MAX);
    in.string(kWireBytesMax);
  }
}

}  // namespace

std::string encode(const Summary& summary) {
  const Written keys = write_keys(summary.keys);
  WireWriter body;
  write_totals(body, summary);
  body.number(capped_for_wire(std::max(summary.absent_max, keys.left_out_high)));
  body.number(keys.count);
  body.raw(keys.bytes.bytes());
  WireWriter out;
  out.raw(kMagic);
  out.byte(kWireVersion);
  out.fixed64(checksum(body.bytes()));
  out.raw(body.bytes());
  return out.take();
}

Result<Summary> decode(std::string_view bytes, std::uint64_t seed, TimePoint at) {
  if (bytes.size() > kWireBytesMax) return not_a_summary("it is longer than 1 MiB");
  if (!bytes.starts_with(kMagic)) return not_a_summary("it has no valid header");
  WireReader in(bytes.substr(kMagic.size()));
  if (const std::uint8_t version = in.byte(); !in.failed() && version != kWireVersion) {
    return Error{ErrorCode::kUnsupported, "the summary has wire version " +
                                              std::to_string(version) + ", and this build reads " +
                                              std::to_string(kWireVersion) +
                                              ": run the same version of heatsink on all nodes"};
  }
  const std::uint64_t expected = in.fixed64();
  if (in.failed()) return not_a_summary(in.fault());
  if (checksum(bytes.substr(kHeaderBytes)) != expected) {
    return not_a_summary("it was damaged in transit (wrong checksum)");
  }
  Summary out;
  out.at = at;
  read_totals(in, out);
  read_keys(in, seed, out.keys);
  pass_over_sections(in);
  in.require(out.window != Nanos{} || (out.requests + out.absent_max == 0 && out.keys.empty()),
             "it has counts but no window");
  if (in.failed()) return not_a_summary(in.fault());
  return out;
}

void rehash(Summary& summary, std::uint64_t seed) {
  std::erase_if(summary.keys, [&](KeyCount& key) {
    if (!can_travel(key)) {
      summary.absent_max = std::max(summary.absent_max, key.high);
      return true;
    }
    if (key.key_truncated) key.hash = hash_of(key, seed);
    return false;
  });
  sort_keys(summary.keys);
}

}  // namespace heatsink::detect
