// SPDX-License-Identifier: Apache-2.0
// Holds a node's state at one moment for users: its totals, and its hot keys with their evidence.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/units.h"
#include "heatsink/detect/verdict.h"
#include "heatsink/report/copies_report.h"
#include "heatsink/report/template_report.h"

namespace heatsink::report {

// Loads are commands per second that the proxy sends to servers, one for each key: answers from
// copies are no load, and other clients of the cluster are not seen. The other figures are the
// servers' own, of all clients (CLUSTER SLOT-STATS); NaN: not known.
struct SlotsReport {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();
  struct Node {
    std::string name;  // "10.0.0.1:7000"
    std::size_t slots = 0;
    double load = 0;
    double cpu = kUnknown;        // CPU time of its process, in cores
    double executing = kUnknown;  // the part of it that executes commands of its slots
    double bytes_rate = kUnknown;
    double commands_rate = kUnknown;  // executed, with keys or not
  };
  struct Slot {
    std::uint16_t slot = 0;
    std::size_t node = 0;  // in `nodes`
    double load = 0;
    std::string key{};  // its busiest hot key, as shown; "": none is known
    double key_load = 0;
    std::string tag{};  // the hash tag that its hot keys share, if there are several; "": none
    double executing = kUnknown;  // CPU time, in cores
    double bytes_rate = kUnknown;
  };
  std::vector<Node> nodes;  // the masters, by first slot
  std::vector<Slot> slots;  // the busiest ones of each node, busiest first
  bool by_cpu = false;      // the CPU time of all nodes is known, so it orders the slots
  std::string why_not{};    // why it is not, a sentence
};

struct KeyReport {
  detect::Verdict verdict;  // name, db, rate and bounds, share, reads, writes, hits (in the
                            // window), since, reason
  // The time that the counts cover: up to one slot less than the window. 0: the whole window.
  Nanos covered{0};
  double counted_seconds() const {
    const Nanos time = covered > Nanos(0) ? covered : verdict.measure.window;
    return std::chrono::duration<double>(time).count();
  }
  // Accesses in that time, less the commands that the servers got for them, and less the fills of
  // its copies. Negative: the fills cost more than the copies spared.
  std::int64_t spared = 0;
  bool cached = false;  // has a local copy right now
  std::string
      cache_note;  // why it has none: "value larger than cache.maximum-value-bytes", "" if cached
  std::string level = "off";             // the guarantee for its copies, in the owner's words
  std::optional<Nanos> max_staleness{};  // of a copy, if it has a bound
  std::optional<Bytes> reply_bytes{};    // of the longest reply among its copies
  std::string limit{};      // "5000/s per key, ...", from its rule or automatic; "": none
  double limited_rate = 0;  // commands on it per second that are refused, made to wait, or answered
                            // from a copy that may be stale
  bool warmed = false;      // an order keeps it hot
  Nanos coalesce{0};        // how long its writes are gathered; 0: they are not
  Nanos stale_while_error{
      0};  // its copy is served so long past its proof in an outage; 0: it is not
  std::uint64_t kept_by = 0;  // clients that keep the name in caches of their own
};

// What clients keep in caches of their own, while the proxy sends them the invalidations. They read
// it there, so no count of accesses has these reads.
struct NearReport {
  struct Name {
    std::string name;
    bool name_truncated = false;
    std::uint64_t clients = 0;  // that keep it, in any database; at least
  };
  std::uint64_t clients = 0;  // that the proxy tracks for
  std::uint64_t keeping = 0;  // of these, how many keep a name
  std::uint64_t kept = 0;     // names, counted for each client
  std::uint64_t names = 0;    // counted for each thread that has such clients
  std::vector<Name> list;     // those that most clients keep, most first
};

// A node's knowledge of the fleet that it counts together with.
struct FleetReport {
  std::string name;
  bool is_known = false;        // a merged list of now is there, and judges keys
  std::uint64_t instances = 1;  // of the latest list
  std::optional<Nanos> age;     // of that list; nothing: none yet
  bool merges = false;          // this node merges the reports of its shard
  std::string problem;          // why it does not report or read; "": it does
  std::uint64_t reports = 0, failures = 0, merged = 0, broken = 0;  // since the start
};

// CPU time of all servers together, over about the window.
struct ServerCpuReport {
  double cores = 0;         // used, as the servers tell it: seconds per second
  double spared_cores = 0;  // an estimate; negative: the proxy costs more than it spares
  double offload = 0;       // the load taken off: spared of used and spared; at most 1
};

// Rates are per second over the window. A plain value; the proxy (or another observer) makes it,
// and admin reads it.
struct Report {
  bool is_answered = true;  // false: the proxy's keeper did not answer, so the rest says nothing
  TimePoint at{};
  Nanos window{};
  Nanos uptime{};
  std::string upstream;  // "127.0.0.1:6379", never with a password
  bool upstream_up = false;
  std::string upstream_problem;  // why it is not up; or ""
  std::string coherence;         // "up", or why no local copies are served now, in one sentence
  double requests_rate = 0;      // accesses that name a key
  double reads_rate = 0;
  double writes_rate = 0;
  double hits_rate = 0;             // reads that a local copy answered at once
  double misses_rate = 0;           // all other reads, also those that waited for a fill
  double hit_ratio = 0;             // hits / reads, 0 .. 1
  double commands_rate = 0;         // commands that clients sent
  double server_commands_rate = 0;  // commands that the servers got, the proxy's own among them
  double own_commands_rate = 0;     // of these, by the proxy itself: fills, proofs, audits ...
  // 1 - server_commands_rate / commands_rate: the load taken off. At most 1; negative if the proxy
  // sends more than it spares.
  double offload = 0;
  std::optional<ServerCpuReport> server_cpu{};
  // Why that is not known; "": it is.
  std::string server_cpu_unknown = "this program does not ask the server for it";
  // The thresholds for all keys, per second, in the unit of `dimension`; rules may have others.
  detect::Dimension dimension = detect::Dimension::kRequests;
  double hot = 0;
  double warm = 0;
  std::uint64_t rules = 0;    // number of rules for some keys
  std::uint64_t workers = 0;  // threads that serve clients; 0: unknown or none
  bool redacted = false;      // key names are shown as hashes
  std::string hot_means;      // "what has at least 3000/s (detection.hot-qps)"; "": unknown
  std::string
      quiet;  // what it means that nothing is hot: "no key reaches 3000/s (detection.hot-qps)"
  // Why it is not final that nothing is hot: "no key is proven hot in 12 windows ..."; "": it is.
  std::string undecided{};
  bool sampled = false;  // Summary::sampled
  // The highest possible rate of an unlisted key, accesses per second; nothing: not known.
  std::optional<double> absent_max{};
  // Commands per second that the server executed outside of all samples, in excess of what these
  // prove: any key may have them. Nothing: everything is seen, or it is not known.
  std::optional<double> unseen_rate{};
  std::optional<SlotsReport> slots{};          // nothing: no cluster
  std::optional<TemplatesReport> templates{};  // nothing: not counted, or names are redacted
  std::uint64_t clients = 0;
  std::uint64_t hot_keys = 0;
  std::uint64_t write_hot_keys = 0;
  std::uint64_t cached_entries = 0;
  std::uint64_t cached_bytes = 0;
  // copies proven stale since the start: each is a coherence fault
  std::uint64_t stale_confirmed = 0;
  std::optional<FleetReport> fleet{};       // nothing: it counts alone
  std::optional<NearReport> near_caches{};  // nothing: the proxy tracks for no client
  std::optional<CopiesReport> copies{};     // nothing: only hot keys get copies, or there are none
  std::vector<KeyReport> keys;  // hot, write-hot and warm, busiest first; empty: nothing is hot
};

}  // namespace heatsink::report
