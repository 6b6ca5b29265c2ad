// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/near_report.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heatsink/proxy/near_figures.h"
#include "heatsink/proxy/worker.h"

namespace heatsink::proxy {
namespace {

constexpr Nanos kAnswerWithin = Millis(100);

constexpr MetricRow kNearClients{
    "heatsink_near_clients", MetricKind::kGauge,
    "Clients with caches of their own whose invalidations the proxy sends."};
constexpr MetricRow kNearKeeping{
    "heatsink_near_keeping_clients", MetricKind::kGauge,
    "Clients that keep at least one name in a cache of their own, as of the last second or more."};
constexpr MetricRow kNearKept{
    "heatsink_near_kept", MetricKind::kGauge,
    "Names that clients keep in caches of their own now, counted for each client."};
constexpr MetricRow kNearNames{
    "heatsink_near_names", MetricKind::kGauge,
    "Names that clients keep in caches of their own now, counted once per thread of the proxy."};

report::NearReport totals(std::span<const NearFigures* const> workers) {
  report::NearReport out;
  for (const NearFigures* const each : workers) {
    out.clients += each->clients();
    out.keeping += each->keeping();
    out.kept += each->kept();
    out.names += each->names();
  }
  return out;
}

// The sum of each name, by its hash.
std::unordered_map<std::uint64_t, NearFigures::Listed> sums(
    std::span<const NearFigures* const> workers) {
  std::unordered_map<std::uint64_t, NearFigures::Listed> out;
  for (const NearFigures* const each : workers) {
    for (const NearFigures::Listed& listed : each->listed()) {
      const auto [at, is_new] = out.try_emplace(listed.hash.value, listed);
      if (!is_new) at->second.clients += listed.clients;
    }
  }
  return out;
}

}  // namespace

void add_near_caches(report::Report& report, std::span<const NearFigures* const> workers,
                     const copies::NodeState& shared) {
  report::NearReport near = totals(workers);
  if (near.clients == 0) return;
  const auto by_hash = sums(workers);
  std::vector<const NearFigures::Listed*> most;
  most.reserve(by_hash.size());
  for (const auto& [hash, listed] : by_hash) most.push_back(&listed);
  std::sort(most.begin(), most.end(),
            [](const auto* a, const auto* b) { return NearFigures::is_before(*a, *b); });
  most.resize(std::min(most.size(), kNearNamesMax));
  near.list.reserve(most.size());
  for (const NearFigures::Listed* const each : most)
    near.list.push_back({shared.shown.show(each->key), false, each->clients});
  report.near_caches = std::move(near);
  for (report::KeyReport& key : report.keys) {
    const detect::KeyCount& count = key.verdict.count;
    const auto found = by_hash.find(without_db(count.hash, count.db).value);
    if (found != by_hash.end()) key.kept_by = found->second.clients;
  }
}

void add_near_caches(report::Report& report, std::span<const std::unique_ptr<Worker>> workers,
                     const copies::NodeState& shared) {
  std::vector<const NearFigures*> figures;
  figures.reserve(workers.size());
  for (const auto& worker : workers) figures.push_back(&worker->near_figures());
  add_near_caches(report, figures, shared);
}

// A worker that does not answer leaves the number from the lists.
void add_near_caches_of(const std::string& name, report::Report& report,
                        std::span<const std::unique_ptr<Worker>> workers,
                        const copies::NodeState& shared) {
  add_near_caches(report, workers, shared);
  if (!report.near_caches || report.keys.empty()) return;
  const NameHash hash = hash_name(name, shared.seed);
  report::KeyReport& key = report.keys.front();
  if (in_db(hash, key.verdict.count.db) != key.verdict.count.hash) return;  // a redacted name
  std::uint64_t sum = 0;
  for (const auto& worker : workers) {
    const std::optional<std::uint64_t> clients = worker->clients_with(hash, kAnswerWithin);
    if (!clients) return;
    sum += *clients;
  }
  key.kept_by = sum;
}

void append_near_samples(MetricSamples& samples, std::span<const NearFigures* const> workers) {
  const report::NearReport near = totals(workers);
  const auto add = [&samples](const MetricRow& row, std::uint64_t value) {
    samples.push_back({&row, static_cast<double>(value)});
  };
  add(kNearClients, near.clients);
  add(kNearKeeping, near.keeping);
  add(kNearKept, near.kept);
  add(kNearNames, near.names);
}

MetricRows near_rows() { return {&kNearClients, &kNearKeeping, &kNearKept, &kNearNames}; }

}  // namespace heatsink::proxy
