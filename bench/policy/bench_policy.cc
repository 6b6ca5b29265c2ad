// SPDX-License-Identifier: Apache-2.0
// bench_policy: hits, fills and invalidated copies of each policy, as lines of JSON for
// bench/policy.py; or one workload as numbers, for a policy in another language.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/policy/belady.h"
#include "bench/policy/policies.h"
#include "bench/policy/thresholds.h"
#include "bench/policy/workload.h"
#include "heatsink/replay/replay.h"

namespace heatsink::bench {
namespace {

constexpr std::size_t kCapacities[] = {1000, 4096, 10'000};
constexpr double kWriteShares[] = {0, 0.01, 0.1, 0.5};
constexpr double kRates[] = {2'000, 20'000, 200'000};  // requests per second
constexpr int kFillCosts[] = {0, 1, 2};                // server commands per fill
constexpr std::uint32_t kWriteBit = 1U << 31;

constexpr const char* kUsage =
    R"(bench_policy [--traces DIR] [--requests N] [--only NAME] [--quick]
             [--expire-after-write SECONDS]
bench_policy --write-requests NAME SHARE [--traces DIR] [--requests N]

Prints one line of JSON per workload, share of writes and number of copies. bench/policy.py shows
them as a table.
  --traces DIR       where the traces are; without it, only generated shapes
  --requests N       requests of a generated shape, and at most of a trace (default: 500000, and
                     the whole trace)
  --only NAME        only this workload
  --quick            no writes and 10 %, 1000 copies, 50000 requests
  --expire-after-write SECONDS
                     copies live no longer than that after their fill (default: until a write ends
                     them), at 2000, 20000 and 200000 requests/s
  --write-requests   writes the requests of one workload to standard output: 4 bytes each, little
                     endian, the key's number, with the highest bit set for a write
)";

struct Options {
  std::string traces;
  std::string only;
  std::size_t requests = 0;
  bool quick = false;
  bool write_requests = false;
  double write_share = 0;
  double expire_s = 0;  // 0: never
};

struct Counts {
  std::uint64_t hits = 0;
  std::uint64_t fills = 0;
  std::uint64_t invalidated = 0;
};

// `copy_requests`: a copy expires so many requests after its fill; 0: never. Its end is a write
// that no client has sent.
Counts counts_of(CopyPolicy& policy, const Workload& workload, const std::vector<bool>& writes,
                 std::size_t copy_requests) {
  constexpr std::uint32_t kNoCopy = UINT32_MAX;
  std::vector<std::uint32_t> filled_at(copy_requests > 0 ? workload.keys : 0, kNoCopy);
  Counts out;
  for (std::size_t i = 0; i < workload.requests.size(); ++i) {
    const std::uint32_t key = workload.requests[i];
    const KeyHash key_hash = replay::hash_of_key(key);
    if (copy_requests > 0 && filled_at[key] != kNoCopy && i - filled_at[key] >= copy_requests) {
      policy.write(key_hash);
      filled_at[key] = kNoCopy;
    }
    if (writes[i]) {
      policy.write(key_hash);
      continue;
    }
    const Outcome outcome = policy.read(key_hash);
    out.hits += outcome.hit ? 1 : 0;
    out.fills += outcome.filled ? 1 : 0;
    if (copy_requests > 0 && outcome.filled) filled_at[key] = static_cast<std::uint32_t>(i);
  }
  out.invalidated = policy.invalidated();
  return out;
}

template <class AnyCounts>
std::string json(const AnyCounts& counts) {
  return fmt::format(R"("hits":{},"fills":{},"invalidated":{})", counts.hits, counts.fills,
                     counts.invalidated);
}

// The best setting for each cost of a fill.
std::string json_of_best(const std::vector<ThresholdResult>& tried, std::size_t copies) {
  std::string out;
  for (const int cost : kFillCosts) {
    const ThresholdResult* best = nullptr;
    const auto net = [cost](const ThresholdResult& result) {
      return static_cast<double>(result.hits) - cost * static_cast<double>(result.fills);
    };
    for (const ThresholdResult& result : tried) {
      if (result.copies == copies && (best == nullptr || net(result) > net(*best))) best = &result;
    }
    out += fmt::format(R"({}{{"window_s":{},"threshold":{},{}}})", out.empty() ? "" : ",",
                       best->window_s, best->threshold, json(*best));
  }
  return "[" + out + "]";
}

// What all rows of a workload have in common.
struct Traffic {
  const Workload& workload;
  double write_share;
  std::vector<bool> writes;
  std::size_t copy_requests;  // until a copy expires; 0: never
};

std::string json_of_policies(const Traffic& traffic, std::size_t copies) {
  const std::size_t keys = traffic.workload.keys;
  const auto counts = [&](const PolicyRow& row, double fill_cost) {
    const auto policy = row.make(keys, copies, fill_cost);
    return json(counts_of(*policy, traffic.workload, traffic.writes, traffic.copy_requests));
  };
  std::string out =
      fmt::format(R"(,"Belady":{{{}}})", json(optimal(traffic.workload, traffic.writes, copies)));
  for (const PolicyRow& row : policies()) {
    if (!row.knows_fill_cost) {
      out += fmt::format(R"(,"{}":{{{}}})", row.name, counts(row, 0));
      continue;
    }
    std::string by_cost;
    for (const int cost : kFillCosts)
      by_cost += fmt::format("{}{{{}}}", by_cost.empty() ? "" : ",", counts(row, cost));
    out += fmt::format(R"(,"{}":[{}])", row.name, by_cost);
  }
  return out;
}

// A rate matters for the thresholds, and for all when copies expire: only then is there a row for
// each rate.
void run(const Traffic& traffic, const std::vector<double>& rates,
         std::span<const std::size_t> capacities) {
  const Workload& workload = traffic.workload;
  std::vector<std::vector<ThresholdResult>> tried;
  tried.reserve(rates.size());
  for (const double rate : rates)
    tried.push_back(
        try_thresholds(workload, traffic.writes, rate, capacities, traffic.copy_requests));
  for (const std::size_t copies : capacities) {
    fmt::print(R"({{"workload":"{}","requests":{},"keys":{},"writes":{},"copies":{})",
               workload.name, workload.requests.size(), workload.keys, traffic.write_share, copies);
    if (traffic.copy_requests > 0) fmt::print(R"(,"expires_after":{})", traffic.copy_requests);
    for (std::size_t i = 0; i < tried.size(); ++i)
      fmt::print(R"(,"threshold {}/s":{})", rates[i], json_of_best(tried[i], copies));
    fmt::print("{}}}\n", json_of_policies(traffic, copies));
    std::fflush(stdout);
  }
}

void run_all(const Workload& workload, const Options& options) {
  const auto capacities = std::span(kCapacities).first(options.quick ? 1 : std::size(kCapacities));
  const std::vector<double> rates(std::begin(kRates), std::end(kRates));
  for (const double share : kWriteShares) {
    if (options.quick && share != 0 && share != 0.1) continue;
    Traffic traffic{workload, share, draw_writes(workload.requests.size(), share), 0};
    if (options.expire_s <= 0) {
      run(traffic, rates, capacities);
      continue;
    }
    for (const double rate : rates) {
      traffic.copy_requests = static_cast<std::size_t>(std::max(rate * options.expire_s, 1.0));
      run(traffic, {rate}, capacities);
    }
  }
}

void write_requests(const Workload& workload, double share) {
  const std::vector<bool> writes = draw_writes(workload.requests.size(), share);
  for (std::size_t i = 0; i < workload.requests.size(); ++i) {
    const std::uint32_t word = workload.requests[i] | (writes[i] ? kWriteBit : 0);
    for (int shift = 0; shift < 32; shift += 8) std::putchar(static_cast<int>(word >> shift & 255));
  }
}

// The workloads one after the other: all together would need much memory.
template <class Use>
void for_each_workload(const Options& options, Use use) {
  const auto wanted = [&](const std::string& name) {
    return options.only.empty() || options.only == name;
  };
  for (const TraceFile& trace : trace_files()) {
    if (options.traces.empty() || !wanted(trace.name)) continue;
    std::string why;
    const std::size_t requests_max = options.requests > 0 ? options.requests : SIZE_MAX;
    const auto workload = read_workload(trace, options.traces, requests_max, why);
    if (workload)
      use(*workload);
    else
      fmt::print(stderr, "{} is skipped: {}\n", trace.name, why);
  }
  for (const Shape& shape : shapes()) {
    if (wanted(shape.name))
      use(make_workload(shape, options.requests > 0 ? options.requests : 500'000));
  }
}

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view flag = argv[i];
    const int values_left = argc - i - 1;
    if (flag == "--quick") {
      options.quick = true;
    } else if (flag == "--traces" && values_left >= 1) {
      options.traces = argv[++i];
    } else if (flag == "--only" && values_left >= 1) {
      options.only = argv[++i];
    } else if (flag == "--requests" && values_left >= 1) {
      options.requests = std::strtoull(argv[++i], nullptr, 10);
    } else if (flag == "--expire-after-write" && values_left >= 1) {
      options.expire_s = std::strtod(argv[++i], nullptr);
    } else if (flag == "--write-requests" && values_left >= 2) {
      options.write_requests = true;
      options.only = argv[++i];
      options.write_share = std::strtod(argv[++i], nullptr);
    } else {
      return false;
    }
  }
  if (options.quick && options.requests == 0) options.requests = 50'000;
  return true;
}

}  // namespace
}  // namespace heatsink::bench

int main(int argc, char** argv) {
  using namespace heatsink::bench;
  Options options;
  if (!parse(argc, argv, options)) {
    std::fputs(kUsage, stderr);
    return 2;
  }
  bool any = false;
  for_each_workload(options, [&](const Workload& workload) {
    any = true;
    if (options.write_requests)
      write_requests(workload, options.write_share);
    else
      run_all(workload, options);
  });
  if (!any) fmt::print(stderr, "no workload is called '{}'\n", options.only);
  return any ? 0 : 1;
}
