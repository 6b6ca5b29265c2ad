// SPDX-License-Identifier: Apache-2.0
// Counts the accesses of any number of threads in fixed memory, without making a thread wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "heatsink/admit/admit.h"
#include "heatsink/base/clock.h"
#include "heatsink/detect/detect.h"

namespace heatsink::client {

// Each thread writes to its own log (6 KiB, freed with the thread). A log that is full or older
// than kLogAgeMax is counted into any free shard. At most as many threads count at once as there
// are shards, so a thread tries each shard a few times at worst.
class AccessShards {
 public:
  static constexpr Nanos kLogAgeMax = Millis(100);
  static constexpr std::size_t kSampledMax = 512;
  // Accesses that a shard picks between two calls of take_sampled_hits() (admit::HitSampler).
  static constexpr std::size_t kPickedPerTurn = 64;

  // `options.memory_bytes` and the rates are for all shards together. `admission` null: no key
  // earns a copy.
  AccessShards(const detect::RecorderOptions& options, std::size_t shards,
               std::shared_ptr<admit::AdmissionState> admission = nullptr);
  ~AccessShards();  // REQUIRES that no thread records any more
  AccessShards(const AccessShards&) = delete;

  // Any thread; about 10 ns. True: a key became urgent (detect::Recorder), so summarize() is due.
  bool record(const detect::Access& access, TimePoint now) noexcept {
    Log& log = this_threads_log();
    if (!detect::AccessLog::fits(access)) [[unlikely]]
      // Passes a copy, so that the original stays in registers.
      return record_long(detect::Access(access), now);
    if (log.accesses.size() == 0) log.began_at = now;
    log.accesses.push(access);
    return (log.accesses.full() || now - log.began_at > kLogAgeMax) && count(log, now);
  }

  // Counts a read of a key that has no copy, and could have one. True: it earns one now. False also
  // if other threads hold all shards: then this read does not count. REQUIRES `admission`.
  bool earns_copy(KeyHash key);
  // A sample of the recorded reads since the last call, for admit::SizedChooser. At most
  // kSampledMax per shard, which take the keeper 0.4 ms; the others are lost.
  std::vector<admit::SampledAccess> take_sampled();

  // A random sample of the recorded hits, for admit::CopySavings.
  std::vector<admit::SampledHit> take_sampled_hits();
  // Calls of earns_copy() that said no.
  std::uint64_t seldom_read() const;

  // One summary per shard. It can lack up to 63 accesses of each thread that has paused since.
  std::vector<detect::Summary> summarize(TimePoint now, std::size_t keys_max,
                                         detect::CountLevel floor);

  // The same lack applies. Totals since the construction.
  struct Traffic {
    std::uint64_t reads = 0, writes = 0, hits = 0;
    double distinct_keys = 0;  // in the window
  };
  Traffic traffic(TimePoint now) const;

  std::size_t memory_bytes() const;  // of all shards

  // For a forked child, where a thread that no longer exists may hold a shard's lock. Threads of
  // the child that end discard their uncounted accesses. REQUIRES that nothing is recorded any
  // more.
  void abandon() noexcept { shards_->are_abandoned = true; }

 private:
  struct alignas(64) Shard {
    Shard(const detect::RecorderOptions& options, std::size_t picked, std::uint64_t seed)
        : recorder(options), hits(picked, seed) {}

    void sample_hits(const detect::AccessLog& log);
    bool take(detect::AccessLog& log, TimePoint now) noexcept;

    std::mutex mutex;
    detect::Recorder recorder;
    std::optional<admit::CopyAdmission> admission;
    admit::HitSampler hits;
    std::uint64_t seldom_read = 0;
  };
  // Shared with the logs: a thread's log may outlive the AccessShards.
  struct Shards {
    std::shared_ptr<admit::AdmissionState> admission;
    std::vector<std::unique_ptr<Shard>> all;
    std::atomic<bool> are_abandoned{false};
    // Calls `use` with a shard that no other thread is using.
    template <class Use>
    bool with_any(std::size_t first, Use use);
  };
  struct Log {
    detect::AccessLog accesses;
    TimePoint began_at{};
    std::size_t home = 0;  // the shard to try first
    std::weak_ptr<Shards> shards;

    ~Log();
  };
  struct Logs;

  Log& this_threads_log() {
    const Last& last = last_used;
    return last.owner == id_ ? *last.log : find_log();
  }
  Log& find_log();
  bool record_long(const detect::Access& access, TimePoint now) noexcept;
  bool count(Log& log, TimePoint now) noexcept;

  // The log that this thread used last. Owner ids are never reused; 0: none.
  struct Last {
    std::uint64_t owner = 0;
    Log* log = nullptr;
  };
  static thread_local constinit Last last_used;

  const std::uint64_t id_;
  std::shared_ptr<Shards> shards_;
};

}  // namespace heatsink::client
