// SPDX-License-Identifier: Apache-2.0
// What is known of a node and its hot keys (docs/reference/http-api.md), as plain values.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/base/units.h"

namespace heatsink::app {

// What did so much of a key's traffic: a command, or a client.
struct TallyView {
  std::string name;
  double count = 0;  // at least, in the window
  double doubt = 0;  // it may be so many more
};

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// What is not known counts as 0.
inline double known(double value) { return std::isnan(value) ? 0 : value; }

// Rates are per second; ratios and shares 0 .. 1. A number that the source does not know is
// kUnknown (NaN), another value empty.
struct KeyView {
  std::string name;  // printable, escaped by the node
  // Its bytes, or their beginning if `name_truncated`. REQUIRED of every source: filters, templates
  // and slots go by them.
  std::string raw_name;
  bool name_truncated = false;
  std::uint64_t db = 0;
  double rate = 0, rate_low = 0, rate_high = 0;
  double share = 0;
  double reads_rate = 0, writes_rate = 0, hits_rate = 0;  // accesses
  std::string rule;                                       // "": the default
  std::string dimension;                     // what `rate` counts: "requests", "bytes" ...
  Nanos window{};                            // over which it is counted
  std::vector<TallyView> commands, clients;  // busiest first
  double hit_ratio = 0;
  Nanos age{};          // how long it has had its verdict
  std::string verdict;  // "hot", "write-hot", "warm"
  std::string reason;
  bool cached = false;
  std::string cache_note;              // why it is not
  std::string level;                   // what is promised of copies: "off", "ttl", "key", "session"
  std::optional<Nanos> max_staleness;  // of a copy, if there is such a bound
  std::string limit;                   // "5000/s per key, ..."; "": it has none
  double limited_rate = 0;             // commands that are held back by it
  bool warmed = false;                 // kept hot by an order
  Nanos coalesce{};                    // its writes are gathered for so long; 0: they are not
  Nanos stale_while_error{};           // 0: off

  // Reads that the server had to answer; of an observed server absent_rate.
  double misses_rate = 0;
  double absent_rate = kUnknown;                   // reads that found no such key
  std::optional<Nanos> latency_mean, latency_p99;  // of the commands with it, as captured
  double bytes_rate = kUnknown;                    // of requests and replies
  std::optional<Bytes> value_bytes;   // size of its value, or of the longest reply seen
  std::optional<Bytes> memory_bytes;  // what the server needs for it
  std::string type, encoding;         // "hash", "listpack"; "": not told
  std::optional<Nanos> ttl;           // until it expires
  bool never_expires = false;         // it has no TTL; neither of both: not told
  std::string value_problem{};        // why (a part of) that is not told; ""
  std::string node;                   // "10.0.0.7:6379" in a cluster
  std::optional<std::uint16_t> slot;  // as told; else it follows from the name
};

struct NodeView {
  std::string upstream;
  bool upstream_up = false;
  std::string coherence;  // "up", or why no local copies are served
  double requests_rate = 0, reads_rate = 0, writes_rate = 0, hits_rate = 0, misses_rate = 0;
  double hit_ratio = 0;
  double offload = 0;
  std::uint64_t clients = 0, hot_keys = 0, cached_entries = 0;
  Bytes cached_bytes;
  std::uint64_t stale_confirmed = 0;  // copies proven stale: there should be none
  std::string dimension{};            // of the thresholds for all keys
  double hot = kUnknown, warm = kUnknown;
  std::optional<std::uint32_t> replicas{};  // of a single node
  std::uint64_t workers = 0;                // of the proxy; 0: not told
  bool redacted = false;                    // names are hashes
  double absent_max = kUnknown;             // accesses per second of a key that is not listed
  bool is_watched = true;                   // by a source
  std::string trouble{};                    // why it is not up; ""
};

// One of a cluster's slots.
struct SlotView {
  std::uint16_t slot = 0;
  std::string node;             // "": not told
  double keys = kUnknown;       // how many it has
  double cpu_share = kUnknown;  // of the CPU time of all slots of its node
  double bytes_rate = kUnknown;
  double rate = kUnknown;  // accesses per second, as the source estimates them
};

// A way in which the numbers were got, where the server itself was asked.
struct SourceView {
  std::string name;   // "monitor"
  std::string state;  // "starting", "running", "finished", "failed"
  std::string cost, blind_spots, confidence;
  std::string note;            // what there is to say now; "": nothing
  double progress = kUnknown;  // 0 .. 1
};

struct HotkeysView {
  Nanos window{};
  Nanos uptime{};
  std::string hot_means;  // "what has at least 3000/s (detection.hot-qps)"; "": not told
  std::string headline;   // "nothing is hot: ...", "2 keys are hot"
  NodeView node;          // all that the source sees, together
  bool cluster = false;
  std::vector<NodeView> nodes;  // each, where there are several; empty: `node` is the one
  std::vector<SlotView> slots;  // where the source counts by slot; empty: they follow from the keys
  std::vector<KeyView> keys;    // busiest first
  std::vector<SourceView> sources;       // the first gave the rows; empty: a proxy did
  std::vector<std::string> cross_check;  // what several say differently

  // The server is being asked, and has shown nothing so far: no rate and no verdict is meant.
  bool only_begins() const {
    return !sources.empty() && sources.front().state == "starting" && keys.empty();
  }
};

// How often a key was accessed in its window.
struct AccessCounts {
  double reads = 0, writes = 0, hits = 0;
  double bytes = 0;  // of requests and replies
};
// The rates of `key` that follow from what was counted. REQUIRES its rate, dimension and window.
// The counts are of the window since the key is tracked, so only their proportions are comparable
// with a rate of accesses; where something else is counted they are all that is known.
void set_rates(KeyView& key, const AccessCounts& counts);
// There is no proxy before an observed server: hits are not known, which is not the same as none.
void forget_hits(HotkeysView& view);

// Whoever answers on that port may answer anything: past kAnswerBytesMax, kAnswerDepthMax or
// kKeysShownMax, without a member, or with one of another type: kProtocol, and the sentence names
// the member. Unknown members are skipped.
inline constexpr std::size_t kAnswerBytesMax = 16U << 20U;
inline constexpr std::size_t kAnswerDepthMax = 16;
inline constexpr std::size_t kKeysShownMax = 100'000;
inline constexpr std::size_t kTalliesShownMax = 8;
inline constexpr std::size_t kSourcesShownMax = 8;
inline constexpr std::size_t kDifferencesShownMax = 100;
inline constexpr std::size_t kNodesShownMax = 1000;
inline constexpr std::size_t kSlotsShownMax = 16'384;
Result<HotkeysView> parse_hotkeys(std::string_view json);

// The same JSON on one line, of its keys only those chosen, by their places, in that order.
// REQUIRES what parse_hotkeys() took.
std::string json_with_keys(std::string_view json, const std::vector<std::size_t>& chosen);

// The same JSON on one line, byte for byte if it is on one already; kProtocol if it is none.
Result<std::string> json_on_one_line(std::string_view json);

}  // namespace heatsink::app
