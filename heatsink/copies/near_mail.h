// SPDX-License-Identifier: Apache-2.0
// Carries news on names that clients keep in caches of their own: from the keeper and from the
// worker of a writer to the workers of those clients.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "heatsink/base/hash.h"

namespace heatsink::copies {

// A client whose write has changed names. Its replies are held until every other worker has marked
// the clients that keep them.
struct HeldWriter {
  std::size_t worker = 0;
  std::uint64_t session = 0;
  std::atomic<std::uint32_t> workers_left{0};
};

// A slot per worker. Any thread puts; the worker takes. Memory: kNamesMax names per worker; more of
// them mean that any name may have changed.
class NearMail {
 public:
  static constexpr std::size_t kNamesMax = 4096;

  explicit NearMail(std::size_t workers);
  NearMail(const NearMail&) = delete;

  struct Content {
    std::vector<NameHash> changed;  // each client that keeps one of them must hear of it
    bool all_changed = false;       // any name may have changed
    bool proof_changed = false;     // the worker must look which names are still proven
    // Told after all of the above has been done.
    std::vector<std::shared_ptr<HeldWriter>> writers;
  };

  // True: the worker does not know yet that there is something to take, and must be told.
  [[nodiscard]] bool put(std::size_t worker, const std::vector<NameHash>& changed,
                         std::shared_ptr<HeldWriter> writer = nullptr);
  [[nodiscard]] bool put_proof_changed(std::size_t worker);
  Content take(std::size_t worker);
  std::size_t workers() const { return slots_.size(); }

 private:
  struct Slot {
    std::mutex mutex;  // guards all
    Content content;
    bool is_told = false;
  };

  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace heatsink::copies
