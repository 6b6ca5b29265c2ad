// SPDX-License-Identifier: Apache-2.0
// Holds what is known of a node and its hot keys (docs/reference/http-api.md), as plain values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"
#include "heatsink/report/key_view.h"
#include "heatsink/report/node_view.h"

namespace heatsink::app {

using report::KeyView;
using report::known;
using report::kUnknown;
using report::NodeView;
using report::set_hits;
using report::TallyView;

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
  bool is_past = false;  // of the history: without verdicts, bounds and copies
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

// Limits of what a node may send.
inline constexpr std::size_t kAnswerBytesMax = 16U << 20U;
inline constexpr std::size_t kAnswerDepthMax = 16;
inline constexpr std::size_t kKeysShownMax = 100'000;
inline constexpr std::size_t kTemplatesShownMax = 1000;
inline constexpr std::size_t kSourcesShownMax = 8;
inline constexpr std::size_t kDifferencesShownMax = 100;
inline constexpr std::size_t kNodesShownMax = 1000;
inline constexpr std::size_t kSlotsShownMax = 16'384;
inline constexpr std::size_t kCurveShownMax = 64;
inline constexpr std::size_t kCopiesShownMax = 100;

}  // namespace heatsink::app
