// SPDX-License-Identifier: Apache-2.0
// Holds what is known of a node and its hot keys (docs/reference/http-api.md), as plain values.
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

// A command or a client, and its part of a key's accesses.
struct TallyView {
  std::string name;
  double count = 0;  // lower bound, in the window
  double doubt = 0;  // upper bound minus lower bound
};

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
// Counts an unknown value as 0.
inline double known(double value) { return std::isnan(value) ? 0 : value; }

// Rates are per second; ratios and shares 0 .. 1. A number that the source does not know is
// kUnknown (NaN), another value empty.
struct KeyView {
  std::string name;  // printable, escaped by the node
  // Its bytes, or their beginning if `name_truncated`. All sources must set it: filters, templates
  // and slots use it.
  std::string raw_name;
  bool name_truncated = false;
  std::uint64_t db = 0;
  double rate = 0, rate_low = 0, rate_high = 0;
  double share = 0;
  double reads_rate = 0, writes_rate = 0, hits_rate = 0;  // accesses
  std::string rule;                                       // "": the default
  std::string dimension;                     // what `rate` counts: "requests", "bytes" ...
  Nanos window{};                            // the window of the count
  std::vector<TallyView> commands, clients;  // busiest first
  double hit_ratio = 0;
  double offload = kUnknown;  // load taken off the key, as a part of its accesses; or < 0
  Nanos age{};                // how long it has had its verdict
  std::string verdict;        // "hot", "write-hot", "warm"
  bool unproven = false;      // it is not known to be hot, but may be: see is_unproven()
  std::string reason;
  bool cached = false;
  std::string cache_note;  // why it is not
  std::string level;       // the guarantee for its copies: "off", "ttl", "key", "session"
  std::optional<Nanos> max_staleness;  // of a copy, if it has a bound
  std::string limit;                   // "5000/s per key, ..."; "": none
  double limited_rate = 0;             // commands held back by the limit
  bool warmed = false;                 // an order keeps it hot
  Nanos coalesce{};                    // how long its writes are gathered; 0: they are not
  Nanos stale_while_error{};           // 0: off

  // Reads that the server had to answer; for an observed server see absent_rate.
  double misses_rate = 0;
  double absent_rate = kUnknown;                   // reads that found no key
  std::optional<Nanos> latency_mean, latency_p99;  // of the commands on it, from a capture
  double bytes_rate = kUnknown;                    // of requests and replies
  std::optional<Bytes> value_bytes;   // size of its value, or of the longest reply seen
  std::optional<Bytes> memory_bytes;  // memory on the server
  std::string type, encoding;         // "hash", "listpack"; "": unknown
  std::optional<Nanos> ttl;           // until it expires
  bool never_expires = false;         // it has no TTL; with neither, the TTL is unknown
  std::string value_problem{};        // why members about the value are missing; or ""
  std::string node;                   // "10.0.0.7:6379" in a cluster
  std::optional<std::uint16_t> slot;  // as reported; else calculated from the name
};

struct NodeView {
  std::string upstream;
  bool upstream_up = false;
  std::string coherence;  // "up", or why no local copies are served
  double requests_rate = 0, reads_rate = 0, writes_rate = 0, hits_rate = 0, misses_rate = 0;
  double hit_ratio = 0;
  // Commands of clients, and those that the servers got: the proxy's own are among them.
  double commands_rate = 0, server_commands_rate = 0;
  double offload = 0;  // load taken off: the part that the servers did not get; or < 0
  // The same of the servers' CPU time, estimated. kUnknown: cpu_unknown says why; "" there, too: an
  // answer of an earlier version.
  double cpu_offload = kUnknown;
  std::string cpu_unknown{};
  double cpu_cores = kUnknown;    // of its process, by all clients, as the server says
  double bytes_rate = kUnknown;   // the same
  double unseen_rate = kUnknown;  // Report::unseen_rate
  bool may_be_pause = false;      // Observation::may_be_pause
  std::uint64_t clients = 0, hot_keys = 0, cached_entries = 0;
  Bytes cached_bytes;
  std::uint64_t stale_confirmed = 0;  // copies proven stale: there should be none
  std::string dimension{};            // of the thresholds for all keys
  double hot = kUnknown, warm = kUnknown;
  std::optional<std::uint32_t> replicas{};  // for a single node
  std::uint64_t workers = 0;                // of the proxy; 0: unknown
  bool redacted = false;                    // names are hashes
  double absent_max = kUnknown;  // highest possible accesses per second of an unlisted key
  bool is_watched = true;        // a source observes it
  std::string trouble{};         // why it is not up; or ""
};

// All accesses by the template of their key, tracked keys or not.
struct TemplatesView {
  std::vector<KeyView> list;                         // names are patterns; only counts are set
  double rest_low = kUnknown, rest_high = kUnknown;  // rate of the accesses in no listed template
};

// One of a cluster's slots.
struct SlotView {
  std::uint16_t slot = 0;
  std::string node;             // "": unknown
  double keys = kUnknown;       // how many it has
  double cpu_share = kUnknown;  // part of the CPU time of all slots of its node
  double bytes_rate = kUnknown;
  double rate = kUnknown;  // accesses per second, estimated by the source
};

// A source of the numbers, for an observed server.
struct SourceView {
  std::string name;   // "monitor"
  std::string state;  // "starting", "running", "finished", "failed"
  std::string cost, blind_spots, confidence;
  std::string note;            // a message about its present state; or ""
  double progress = kUnknown;  // 0 .. 1
};

// A proxy's choice of copies. Shares are of the reads, less what copies cost the server.
struct CopiesView {
  std::uint64_t reads = 0;  // a key gets a copy at this read; 0: nothing is copied
  std::uint64_t history = 0;
  std::string order;
  double saved = 0;
  double fill_cost = 0, invalidation_cost = 0;  // in reads that a copy spares the server
  double fill_cost_spread = 0;                  // how far it wandered lately
  std::optional<Nanos> read_cpu;                // the server's CPU time for such a read
  // The proxy's: what a hit spares it, and what a fill takes it.
  std::optional<Nanos> proxy_read_cpu, proxy_fill_cpu;
  // How many times the built-in prices are taken; nothing: an older node does not tell.
  struct Scale {
    double scale = 1;
    bool is_measured = false;
  };
  struct Prices {
    Scale server, keeper, worker;
    Nanos fill_wait{0};
  };
  std::optional<Prices> prices;
  std::uint64_t seldom_read = 0, written = 0, too_big = 0, no_room = 0;  // refused since the start
  std::uint64_t entries_max = 0;
  Bytes bytes_max;
  struct Point {
    std::uint64_t entries = 0;
    double saved = 0;
  };
  std::vector<Point> curve;
  std::string advice;
  // What the copies of one key save. Rates are per second, of about the last 10 s.
  struct Copy {
    std::string name;  // printable, escaped by the node
    std::uint64_t db = 0;
    std::vector<std::string> commands{};  // "GET", "STRLEN"; empty: it has no copy at the moment
    double hits_rate = 0, hits_error = 0;
    double fills_rate = 0, invalidations_rate = 0;
    double saved_rate = 0;         // reads, less what its copies cost
    double server_cpu = kUnknown;  // part of one core
    Bytes bytes;
  };
  std::vector<Copy> top;  // those that save most, the best one first
};

struct HotkeysView {
  Nanos window{};
  Nanos uptime{};
  std::string hot_means;  // "what has at least 3000/s (detection.hot-qps)"; "": unknown
  std::string headline;   // "nothing is hot: ...", "2 keys are hot"
  NodeView node;          // everything that the source sees, together
  bool cluster = false;
  std::vector<NodeView> nodes;  // if there are several; empty: `node` is the only one
  std::vector<SlotView> slots;  // the source's counts by slot; empty: calculate them from the keys
  std::vector<KeyView> keys;    // busiest first
  std::optional<CopiesView> copies;          // of a proxy that chooses which keys get copies
  std::optional<TemplatesView> templates{};  // nothing: the source does not count them
  std::vector<SourceView> sources;           // the first one gave the rows; empty: a proxy did
  // From a proxy before a cluster: whose counts the advice uses, then whether moving slots helps.
  std::vector<std::string> slot_advice{};
  bool slots_by_cpu = false;             // the busiest slot has the most CPU time
  std::vector<std::string> cross_check;  // contradictions between several sources

  // The observation has only begun and has no data: rates and verdicts have no meaning yet.
  bool only_begins() const {
    return !sources.empty() && sources.front().state == "starting" && keys.empty();
  }
};

// A key's accesses in its window.
struct AccessCounts {
  double reads = 0, writes = 0, hits = 0;
  double bytes = 0;  // of requests and replies
  Nanos covered{0};  // the time that they cover
};
// Sets the rates of `key` that follow from counts. REQUIRES its rate and dimension. Counts
// cover the part of the window in which the key was tracked, so only their proportions are
// comparable with a rate of accesses. If something else is counted, they are all that is known.
void set_rates(KeyView& key, const AccessCounts& counts);
// Sets the misses and the hit ratio of a template, which follow from its other rates.
void set_hits(KeyView& pattern);
// An observed server has no proxy: its hits are unknown, which differs from none.
void forget_hits(HotkeysView& view);

// The program on that port may send anything: beyond kAnswerBytesMax, kAnswerDepthMax or
// kKeysShownMax, without a member, or with a mistyped one it is kProtocol, and the message names
// the member. Unknown members are skipped.
inline constexpr std::size_t kAnswerBytesMax = 16U << 20U;
inline constexpr std::size_t kAnswerDepthMax = 16;
inline constexpr std::size_t kKeysShownMax = 100'000;
inline constexpr std::size_t kTemplatesShownMax = 1000;
inline constexpr std::size_t kTalliesShownMax = 8;
inline constexpr std::size_t kSourcesShownMax = 8;
inline constexpr std::size_t kDifferencesShownMax = 100;
inline constexpr std::size_t kNodesShownMax = 1000;
inline constexpr std::size_t kSlotsShownMax = 16'384;
inline constexpr std::size_t kCurveShownMax = 64;
inline constexpr std::size_t kCopiesShownMax = 100;
Result<HotkeysView> parse_hotkeys(std::string_view json);

// The highest rate of a listed key: what the samples did not see may all be its accesses.
double at_most(const KeyView& key, const NodeView& node);
// Whether a key that is not proven hot reaches the threshold with what the samples did not see.
bool is_unproven(const KeyView& key, const NodeView& node);

// The same JSON on one line, with only the keys at the indexes in `chosen`, in that order. REQUIRES
// text that parse_hotkeys() accepts.
std::string json_with_keys(std::string_view json, const std::vector<std::size_t>& chosen);

// The same JSON on one line, unchanged if it is on one line already; kProtocol if it is not JSON.
Result<std::string> json_on_one_line(std::string_view json);

}  // namespace heatsink::app
