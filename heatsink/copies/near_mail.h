// SPDX-License-Identifier: Apache-2.0
// Carries news on names that clients keep in caches of their own: from the keeper and from the
// worker of a writer to the workers of those clients.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
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
  std::atomic<std::size_t> workers_left{0};  // NearMail's
};

// A slot per worker. Any thread puts; the worker takes. Memory: kNamesMax names per worker; more of
// them mean that any name may have changed.
class NearMail {
 public:
  static constexpr std::size_t kNamesMax = 4096;
  static constexpr std::size_t kKeeper = static_cast<std::size_t>(-1);

  // Called in the thread that puts, or marks. `tell`: the worker has something to take. `release`:
  // all workers have marked their clients, so this one may have its replies.
  NearMail(std::size_t workers, std::function<void(std::size_t worker)> tell,
           std::function<void(const HeldWriter& writer)> release);
  NearMail(const NearMail&) = delete;

  struct Content {
    std::vector<NameHash> changed;  // each client that keeps one of them must hear of it
    bool all_changed = false;       // any name may have changed
    bool proof_changed = false;     // the worker must look which names are still proven
    std::vector<bool> lost_slots;   // by number: their names must end; empty: none
    // marked() is due when all of the above has been done.
    std::vector<std::shared_ptr<HeldWriter>> writers;
  };

  // For all workers but the one that it comes from, or kKeeper. `writer`: null: none is held. It is
  // released when as many workers have called marked(), and `more`.
  void put(std::size_t from, const std::vector<NameHash>& changed,
           const std::shared_ptr<HeldWriter>& writer = nullptr, std::size_t more = 0);
  void put_proof_changed();                       // for all workers
  void put_lost(const std::vector<bool>& slots);  // for all workers
  Content take(std::size_t worker);
  void marked(HeldWriter& writer) {
    if (writer.workers_left.fetch_sub(1) == 1) release_(writer);
  }
  bool has_others() const { return slots_.size() > 1; }

 private:
  struct Slot {
    std::mutex mutex;  // guards all
    Content content;
    bool is_told = false;
  };

  template <class Change>
  void change(std::size_t worker, Change change);

  const std::function<void(std::size_t)> tell_;
  const std::function<void(const HeldWriter&)> release_;
  std::vector<std::unique_ptr<Slot>> slots_;
};

}  // namespace heatsink::copies
