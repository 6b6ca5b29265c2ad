// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/heat_writer.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "heatsink/copies/cluster_heat.h"

namespace heatsink::copies {

// The bytes of a key. Those of its writes and hits are counted; those of the reads that went to the
// server are estimated by one of their replies, or else by the mean of what is counted.
class HeatWriter::Sizes {
 public:
  Sizes(std::span<const SampledSizes* const> samples, double mean_reply)
      : samples_(samples), mean_reply_(mean_reply) {}

  double of(heat::Kind kind, const detect::KeyCount& key) const {
    const auto counted = static_cast<double>(key.bytes);
    const double misses = unsized(key.reads, key.hits);
    if (samples_.empty() || misses == 0) return counted;
    const std::uint32_t last = kind == heat::Kind::kKey ? last_reply(key.hash) : 0;
    if (last > 0) return counted + misses * last;
    const auto sized = static_cast<double>(key.hits + key.writes);
    return counted + misses * (sized > 0 ? counted / sized : mean_reply_);
  }
  // Of all keys.
  double of(const detect::Summary& all) const {
    const auto counted = static_cast<double>(all.bytes);
    return samples_.empty() ? counted : counted + unsized(all.reads, all.hits) * mean_reply_;
  }

 private:
  static double unsized(std::uint64_t reads, std::uint64_t hits) {
    return static_cast<double>(reads - std::min(reads, hits));
  }
  std::uint32_t last_reply(KeyHash key) const {
    std::uint32_t last = 0;
    for (const SampledSizes* const worker : samples_) last = std::max(last, worker->last(key));
    return last;
  }

  std::span<const SampledSizes* const> samples_;
  double mean_reply_;
};

double HeatWriter::mean_reply_bytes(std::span<const SampledSizes* const> samples) {
  constexpr double kStays = 0.9;
  SampledSizes::Sum all;
  for (const SampledSizes* const worker : samples) {
    const SampledSizes::Sum sum = worker->sum();
    all.replies += sum.replies;
    all.bytes += sum.bytes;
  }
  const SampledSizes::Sum before = std::exchange(sampled_before_, all);
  if (all.replies < before.replies) return 0;  // a worker's sizes are counted from now on
  sampled_replies_ = kStays * sampled_replies_ + static_cast<double>(all.replies - before.replies);
  sampled_bytes_ = kStays * sampled_bytes_ + static_cast<double>(all.bytes - before.bytes);
  return sampled_replies_ > 0 ? sampled_bytes_ / sampled_replies_ : 0;
}

void HeatWriter::write(const detect::Summary& counted, const Beside& beside, TimePoint now) {
  const Sizes sizes(beside.reply_sizes, mean_reply_bytes(beside.reply_sizes));
  heat::Moment moment = heat::moment_of(
      counted, [this](std::string_view name) { return shown_.show(name); }, shown_.redacts(),
      [&sizes](heat::Kind kind, const detect::KeyCount& key) { return sizes.of(kind, key); });
  if (const double seconds = counted.seconds(); seconds > 0)
    moment.totals.bytes = sizes.of(counted) / seconds;
  moment.totals.commands = beside.load.per_second(beside.load.load.sent);
  moment.totals.server_commands = beside.load.per_second(beside.load.load.executed);
  if (beside.cpu) {
    moment.totals.server_cpu = beside.cpu->cores;
    moment.totals.server_cpu_spared = beside.cpu->spared_cores;
  }
  const DurationHistogram::Counts counts = DurationHistogram::counts(beside.latencies);
  DurationHistogram::Counts since{};
  for (std::size_t i = 0; i < counts.size(); ++i) since[i] = counts[i] - before_[i];
  before_ = counts;
  moment.totals.latency_p50 = DurationHistogram::quantile(since, 0.5);
  moment.totals.latency_p99 = DurationHistogram::quantile(since, 0.99);
  add_cluster(moment, cluster_, slot_counts_, now);
  if (!beside.clients.empty())
    clients_.add_to(moment, beside.clients, beside.client_name, counted.window, now);
  history_.add(moment);
}

}  // namespace heatsink::copies
