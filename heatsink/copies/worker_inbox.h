// SPDX-License-Identifier: Apache-2.0
// Holds the latest counts and samples of each worker for the keeper: one slot each, never a queue.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "heatsink/copies/worker_sample.h"
#include "heatsink/detect/detect.h"

namespace heatsink::copies {

// A worker counts faster than a busy keeper judges: with detection.tick at 10 ms, 100 times per
// second and worker, 2 MB each. Only the latest summaries say how things are, so newer ones replace
// those that the keeper has not taken. Samples add up to kSampledMax accesses and hits, and lose
// those beyond.
//
// put() is for the workers' threads, take() for the keeper's; replaced() for any.
class WorkerInbox {
 public:
  static constexpr std::size_t kSampledMax = 8192;

  explicit WorkerInbox(std::size_t workers);

  // True: the keeper does not know yet that there is something to take, and must be told.
  [[nodiscard]] bool put(std::size_t worker, std::vector<detect::Summary> summaries,
                         bool is_urgent);
  [[nodiscard]] bool put(std::size_t worker, const WorkerSample& sample);

  struct Content {
    std::vector<detect::Summary> summaries;  // empty: none since the last take()
    bool is_urgent = false;                  // a key has become urgent since then
    WorkerSample sample;
  };
  // From now on put() returns true again. Call it before take().
  void begin_to_take() { is_told_.store(false); }
  Content take(std::size_t worker);
  std::size_t workers() const { return slots_.size(); }

  // Lists of summaries that newer ones have replaced, in total.
  std::uint64_t replaced() const { return replaced_.load(std::memory_order_relaxed); }

 private:
  struct Slot {
    std::mutex mutex;  // guards content
    Content content;
  };

  std::vector<std::unique_ptr<Slot>> slots_;
  std::atomic<bool> is_told_{false};
  std::atomic<std::uint64_t> replaced_{0};
};

}  // namespace heatsink::copies
