// SPDX-License-Identifier: Apache-2.0
#include "heatsink/client/access_shards.h"

#include <algorithm>
#include <atomic>
#include <thread>
#include <unordered_map>
#include <utility>

namespace heatsink::client {
namespace {

std::atomic<std::uint64_t> ids{0};
std::atomic<std::size_t> threads{0};

detect::RecorderOptions part_of(detect::RecorderOptions options, std::size_t shards) {
  const auto part = [&](std::uint64_t of) {
    return of == UINT64_MAX ? of : std::max<std::uint64_t>(of / shards, of == 0 ? 0 : 1);
  };
  const auto part_of_level = [&](detect::CountLevel of) {
    return detect::CountLevel(part(of.least), of.part);
  };
  options.memory_bytes /= shards;
  options.template_bytes /= shards;
  options.urgent_count = part_of_level(options.urgent_count);
  options.worth_tracking = part_of_level(options.worth_tracking);
  options.lossless_per_second = part(options.lossless_per_second);
  options.has_distinct = true;
  return options;
}

}  // namespace

// The logs of one thread, one per living client.
struct AccessShards::Logs {
  std::unordered_map<std::uint64_t, std::unique_ptr<Log>> by_owner;

  // Frees the logs of dead clients, for threads that outlive many of them.
  void forget_dead_clients() {
    std::erase_if(by_owner, [](const auto& each) { return each.second->shards.expired(); });
  }
};

thread_local constinit AccessShards::Last AccessShards::last_used{};

AccessShards::AccessShards(const detect::RecorderOptions& options, std::size_t shards,
                           std::shared_ptr<admit::AdmissionState> admission)
    : id_(++ids), shards_(std::make_shared<Shards>()) {
  shards = std::max<std::size_t>(shards, 1);
  shards_->admission = std::move(admission);
  for (std::size_t i = 0; i < shards; ++i) {
    shards_->all.push_back(std::make_unique<Shard>(
        part_of(options, shards), shards_->admission != nullptr ? kPickedPerTurn : 0,
        options.seed + i));
    if (shards_->admission != nullptr)
      shards_->all.back()->admission.emplace(*shards_->admission, kSampledMax);
  }
}

AccessShards::~AccessShards() = default;

template <class Use>
bool AccessShards::Shards::with_any(std::size_t first, Use use) {
  for (std::size_t i = first;; ++i) {
    Shard& shard = *all[i % all.size()];
    // Never waits: skips a shard that another thread uses.
    const std::unique_lock lock(shard.mutex, std::try_to_lock);
    if (lock.owns_lock()) return use(shard);
  }
}

// Picks accesses, and keeps those that are hits: from one pick to the next in one step.
void AccessShards::Shard::sample_hits(const detect::AccessLog& log) {
  std::uint32_t at = 0;
  while (hits.left() <= log.size() - at) {
    at += static_cast<std::uint32_t>(hits.left());
    static_cast<void>(hits.pass(hits.left()));
    const detect::AccessLog::Entry& access = log[at - 1];
    if (access.amount.hits() != 0)
      hits.take(KeyHash{access.tag});
    else
      hits.skip();
  }
  static_cast<void>(hits.pass(log.size() - at));
}

bool AccessShards::Shard::take(detect::AccessLog& log, TimePoint now) noexcept {
  sample_hits(log);
  if (admission && !admission->is_full()) {
    for (std::uint32_t i = 0; i < log.size(); ++i)
      if (log[i].amount.writes() == 0) admission->saw(KeyHash{log[i].tag}, false);
  }
  return recorder.take(log, now);
}

// A thread that ends counts what its log still holds.
AccessShards::Log::~Log() {
  const std::shared_ptr<Shards> alive = shards.lock();
  if (alive == nullptr || alive->are_abandoned || accesses.size() == 0) return;
  alive->with_any(home, [&](Shard& shard) { return shard.take(accesses, began_at); });
}

AccessShards::Log& AccessShards::find_log() {
  static thread_local Logs logs;
  const auto at = logs.by_owner.find(id_);
  if (at == logs.by_owner.end()) {
    logs.forget_dead_clients();
    auto log = std::make_unique<Log>();
    log->home = threads.fetch_add(1, std::memory_order_relaxed);
    log->shards = shards_;
    last_used = {id_, log.get()};
    logs.by_owner.emplace(id_, std::move(log));
  } else {
    last_used = {id_, at->second.get()};
  }
  return *last_used.log;
}

bool AccessShards::record_long(const detect::Access& access, TimePoint now) noexcept {
  return shards_->with_any(this_threads_log().home, [&](Shard& shard) {
    if (shard.admission && access.kind != detect::AccessKind::kWrite)
      shard.admission->saw(access.hash, false);
    if (shard.hits.pass(1)) access.local_hit ? shard.hits.take(access.hash) : shard.hits.skip();
    return shard.recorder.record(access, now);
  });
}

bool AccessShards::count(Log& log, TimePoint now) noexcept {
  return shards_->with_any(log.home, [&](Shard& shard) { return shard.take(log.accesses, now); });
}

bool AccessShards::earns_copy(KeyHash key) {
  const auto& all = shards_->all;
  const std::size_t home = this_threads_log().home;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Shard& shard = *all[(home + i) % all.size()];
    const std::unique_lock lock(shard.mutex, std::try_to_lock);
    if (!lock.owns_lock()) continue;
    const bool is_earned = shard.admission->earns_copy(key);
    shard.seldom_read += is_earned ? 0 : 1;
    return is_earned;
  }
  return false;
}

std::vector<admit::SampledAccess> AccessShards::take_sampled() {
  std::vector<admit::SampledAccess> all;
  for (const auto& shard : shards_->all) {
    const std::lock_guard lock(shard->mutex);
    if (!shard->admission) continue;
    const std::vector<admit::SampledAccess> some = shard->admission->take_sampled();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::vector<admit::SampledHit> AccessShards::take_sampled_hits() {
  std::vector<admit::SampledHit> all;
  for (const auto& shard : shards_->all) {
    const std::lock_guard lock(shard->mutex);
    const std::vector<admit::SampledHit> some = shard->hits.take_sampled();
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::uint64_t AccessShards::seldom_read() const {
  std::uint64_t reads = 0;
  for (const auto& shard : shards_->all) {
    const std::lock_guard lock(shard->mutex);
    reads += shard->seldom_read;
  }
  return reads;
}

std::vector<detect::Summary> AccessShards::summarize(TimePoint now, std::size_t keys_max,
                                                     detect::CountLevel floor) {
  std::vector<detect::Summary> summaries;
  for (const auto& shard : shards_->all) {
    const std::lock_guard lock(shard->mutex);
    summaries.push_back(shard->recorder.summarize(now, keys_max, floor));
  }
  return summaries;
}

AccessShards::Traffic AccessShards::traffic(TimePoint now) const {
  Traffic all;
  detect::DistinctSketch distinct;
  for (const auto& shard : shards_->all) {
    const std::lock_guard lock(shard->mutex);
    distinct.merge(shard->recorder.distinct(now));
    const detect::Recorder::Totals totals = shard->recorder.totals();
    all.reads += totals.requests - totals.writes;
    all.writes += totals.writes;
    all.hits += totals.hits;
  }
  all.distinct_keys = distinct.estimate();
  return all;
}

std::size_t AccessShards::memory_bytes() const {
  std::size_t bytes = 0;
  for (const auto& shard : shards_->all) bytes += shard->recorder.memory_bytes();
  return bytes;
}

}  // namespace heatsink::client
