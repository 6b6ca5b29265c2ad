// SPDX-License-Identifier: Apache-2.0
// Counts the accesses of any number of threads in fixed memory, and never makes one wait.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/detect/detect.h"

namespace heatsink::client {

// Each thread writes to a log of its own (6 KiB, which ends with the thread). A full one, or one
// that is older than kLogAgeMax, is counted in whichever shard is free: at most as many threads
// count at once as there are shards, so a thread looks at each of them a few times at worst.
class AccessShards {
 public:
  static constexpr Nanos kLogAgeMax = Millis(100);

  // `options.memory_bytes` and what has to do with rates are of all shards together.
  AccessShards(const detect::RecorderOptions& options, std::size_t shards);
  ~AccessShards();  // REQUIRES that no thread records any more
  AccessShards(const AccessShards&) = delete;

  // Any thread; about 10 ns. True: a key became urgent (detect::Recorder), so summarize() is due.
  bool record(const detect::Access& access, TimePoint now) noexcept {
    Log& log = this_threads();
    if (!detect::AccessLog::fits(access)) [[unlikely]]
      return record_long(detect::Access(access), now);  // a copy: so the other stays in registers
    if (log.accesses.size() == 0) log.began_at = now;
    log.accesses.push(access);
    return (log.accesses.full() || now - log.began_at > kLogAgeMax) && count(log, now);
  }

  // One for each shard. Up to 63 accesses of a thread that has paused since are not in it.
  std::vector<detect::Summary> summarize(TimePoint now, std::size_t keys_max, std::uint64_t floor);

  // Likewise. Totals are since it was made.
  struct Traffic {
    std::uint64_t reads = 0, writes = 0, hits = 0;
    double distinct_keys = 0;  // within the window
  };
  Traffic traffic(TimePoint now) const;

  std::size_t memory_bytes() const;  // of the shards

  // In a forked child: a thread that has gone may have a shard's lock. What its threads that end
  // have not counted yet is forgotten. REQUIRES that nothing is recorded any more.
  void abandon() noexcept { shards_->are_abandoned = true; }

 private:
  struct alignas(64) Shard {
    explicit Shard(const detect::RecorderOptions& options) : recorder(options) {}

    std::mutex mutex;
    detect::Recorder recorder;
  };
  // The shards, which logs of threads that still run may outlive.
  struct Shards {
    std::vector<std::unique_ptr<Shard>> all;
    std::atomic<bool> are_abandoned{false};
    // Calls `use` with a shard that no other thread uses meanwhile.
    template <class Use>
    bool with_any(std::size_t first, Use use);
  };
  struct Log {
    detect::AccessLog accesses;
    TimePoint began_at{};
    std::size_t home = 0;  // the shard that is tried first
    std::weak_ptr<Shards> shards;

    ~Log();
  };
  struct Logs;

  Log& this_threads() {
    const Last& last = last_used;
    return last.owner == id_ ? *last.log : find_log();
  }
  Log& find_log();
  bool record_long(const detect::Access& access, TimePoint now) noexcept;
  bool count(Log& log, TimePoint now) noexcept;

  // The log used last by this thread; ids are never used again, 0 is nobody's.
  struct Last {
    std::uint64_t owner = 0;
    Log* log = nullptr;
  };
  static thread_local constinit Last last_used;

  const std::uint64_t id_;
  std::shared_ptr<Shards> shards_;
};

}  // namespace heatsink::client
