// SPDX-License-Identifier: Apache-2.0
#include "heatsink/replay/facts.h"

#include <algorithm>

namespace heatsink::replay {
namespace {

std::uint64_t next_rank(std::uint64_t rank) {  // 1, 2, 5, 10, 20, 50 ...
  std::uint64_t power = 1;
  while (power * 10 <= rank) power *= 10;
  return rank == power ? 2 * power : rank == 2 * power ? 5 * power : 10 * power;
}

std::vector<SharePoint> curve(const std::vector<BusyKey>& keys, double requests) {
  std::vector<SharePoint> points;
  std::uint64_t sum = 0, due = 1;
  for (std::uint64_t rank = 1; rank <= keys.size(); ++rank) {
    sum += keys[rank - 1].accesses;
    if (rank != due && rank != keys.size()) continue;
    points.push_back({rank, static_cast<double>(sum) / requests});
    if (rank == due) due = next_rank(due);
  }
  return points;
}

}  // namespace

double TraceFacts::share_of(std::uint64_t rank) const {
  for (const SharePoint& point : share_curve)
    if (point.rank == rank) return point.share;
  return 0;
}

TraceFacts facts_of(const Trace& trace) {
  TraceFacts out;
  std::vector<BusyKey> keys(trace.keys.size());
  for (const TraceAccess& access : trace.accesses) {
    const bool write = access.operation() == Operation::kWrite;
    BusyKey& key = keys[access.key];
    key.key = access.key;
    ++key.accesses;
    if (write) ++key.writes;
    ++(write ? out.writes : access.operation() == Operation::kGet ? out.gets : out.reads);
    if (access.bytes_known()) ++out.sized;
  }
  std::sort(keys.begin(), keys.end(), [](const BusyKey& a, const BusyKey& b) {
    return a.accesses != b.accesses ? a.accesses > b.accesses : a.key < b.key;
  });
  out.share_curve = curve(keys, trace.requests());
  keys.resize(std::min(keys.size(), TraceFacts::kBusiest));
  out.busiest = std::move(keys);
  const double seconds = std::chrono::duration<double>(trace.duration()).count();
  out.rate = seconds > 0 ? trace.requests() / seconds : trace.requests();
  return out;
}

}  // namespace heatsink::replay
