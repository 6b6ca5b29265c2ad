// SPDX-License-Identifier: Apache-2.0
#include "bench/detect_accuracy.h"

#include <fmt/format.h>

#include "heatsink/base/testing/source_dir.h"
#include "heatsink/detect/testing/accuracy.h"
#include "heatsink/detect/testing/traces.h"
#include "heatsink/detect/testing/workloads.h"

namespace heatsink::bench {
namespace {

using detect::RecorderOptions;
using detect::testing::Accuracy;
using detect::testing::AccuracyRun;
using detect::testing::Workload;
using std::chrono::seconds;

// The traces give no times: these rates make several windows of each.
struct Trace {
  const char* file;
  const char* name;
  double rate;
  bool has_hot_keys = true;
};
constexpr Trace kTraces[] = {
    {"cache2k-orm-busy.csv.zst", "orm-busy", 100'000},
    {"scarab-recs.csv.zst", "scarab", 40'000},
    {"cache2k-web07.csv.zst", "web07", 2'000},
    {"corda-vaultservice.csv.zst", "corda (nothing is hot)", 4'000, false},
};
constexpr const char* kRankFrequencies = "twitter-cluster52-10m.rankfreq.csv";
constexpr double kTwitterRate = 24'000;  // as it was measured, for one instance

class Table {
 public:
  explicit Table(Figures& figures) : figures_(figures) {
    figures.table("Accuracy: 10 s window, 2.5 MB, hot = 0.05 % of the window's accesses",
                  {"traffic", "accesses", "distinct", "looks", "P@100", "P@1000", "recall",
                   "precision", "rate err %", "violated", "verdicts", "bytes", "targets"});
  }

  void add(const std::string& name, const Accuracy& a, bool has_hot_keys = true) {
    const bool ranks_right = a.p100() >= 0.995 && a.p1000() >= 0.99;
    const bool hot_right =
        a.recall() >= 0.995 && a.precision() >= 0.995 && a.mean_rate_error() <= 0.005;
    const bool silent = a.verdicts == 0;
    const bool reached = a.bounds_violated == 0 && a.memory_bytes <= 2'500'000 &&
                         (has_hot_keys ? ranks_right && hot_right : silent);
    figures_.row({name, fmt::format("{}", a.accesses), fmt::format("{}", a.distinct_max),
                  fmt::format("{}", a.looks), fmt::format("{:.4f}", a.p100()),
                  fmt::format("{:.4f}", a.p1000()), fmt::format("{:.4f}", a.recall()),
                  fmt::format("{:.4f}", a.precision()),
                  fmt::format("{:.3f}", a.mean_rate_error() * 100),
                  fmt::format("{}", a.bounds_violated), fmt::format("{}", a.verdicts),
                  fmt::format("{}", a.memory_bytes), figures_.judged(reached)});
  }

 private:
  Figures& figures_;
};

void measure_traces(Figures& figures, Table& table) {
  const detect::testing::Traces traces(heatsink::kSourceDir);
  for (const Trace& trace : kTraces) {
    if (const std::string why = traces.why_absent(trace.file); !why.empty()) {
      figures.note(std::string(trace.name) + ": skipped, " + why);
      continue;
    }
    AccuracyRun run(trace.rate, RecorderOptions{});
    traces.for_each_key(trace.file, [&](std::string_view key) { run.access(key); });
    table.add(trace.name, run.accuracy(), trace.has_hot_keys);
  }
}

void measure_twitter(Figures& figures, Table& table, Nanos length) {
  const detect::testing::Traces traces(heatsink::kSourceDir);
  if (const std::string why = traces.why_absent(kRankFrequencies); !why.empty()) {
    return figures.note("twitter52: skipped, " + why);
  }
  const Workload workload{
      "twitter52, resampled", kTwitterRate, length,
      [draw = traces.resampled(kRankFrequencies, 1)](double) { return draw(); }};
  table.add(workload.name, accuracy_of(workload));
}

}  // namespace

void measure_accuracy(Figures& figures, bool quick) {
  Table table(figures);
  measure_traces(figures, table);
  const auto length = [quick](int whole_s) { return seconds(quick ? 10 + whole_s / 5 : whole_s); };
  measure_twitter(figures, table, length(100));
  constexpr double kRate = 100'000;
  using namespace detect::testing;  // NOLINT(google-build-using-namespace): the shapes' names
  for (const Workload& workload :
       {zipf(400'000, length(60), 10'000'000), jumping_hot_set(kRate, length(90), 1'000'000),
        loops_and_bursts(kRate, length(60), 1'000'000), flash_crowd(kRate, length(60), 1'000'000),
        diurnal_drift(kRate, length(60), 1'000'000), scan_and_hot_set(kRate, length(60)),
        periodic_bursts(kRate, length(60), 1'000'000)}) {
    table.add(workload.name, accuracy_of(workload));
  }
  table.add("uniform (nothing is hot)", accuracy_of(uniform(kRate, length(60), 1'000'000)), false);
}

}  // namespace heatsink::bench
