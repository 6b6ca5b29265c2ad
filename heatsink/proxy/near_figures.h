// SPDX-License-Identifier: Apache-2.0
// Counts what the clients of one worker keep in caches of their own, and finds the names that most
// of them keep, for reports.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/base/hash.h"
#include "heatsink/session/near_table.h"

namespace heatsink::proxy {

// One per worker. The reads of a name that clients keep reach no worker, so no counter of accesses
// knows it; this walk does. It begins at most once a second, and takes a slice of the table at a
// time: 2048 names or clients, about 0.1 ms.
class NearFigures {
 public:
  static constexpr std::size_t kListed = 128;  // names that most clients keep
  static constexpr std::size_t kSlice = 2048;
  static constexpr Nanos kPause = std::chrono::seconds(1);

  struct Listed {
    std::string key;
    NameHash hash;
    std::uint64_t clients;
  };
  // The order of lists: the name that most clients keep is first.
  static bool is_before(const Listed& a, const Listed& b) {
    return a.clients != b.clients ? a.clients > b.clients : a.key < b.key;
  }

  // The worker's thread. At the end of a turn; O(1).
  void note(const NearTable& table);
  // One slice.
  void walk(const NearTable& table, TimePoint now);

  // Any thread; as of the last turn.
  std::uint64_t clients() const { return clients_.load(std::memory_order_relaxed); }
  std::uint64_t kept() const { return kept_.load(std::memory_order_relaxed); }
  std::uint64_t names() const { return names_.load(std::memory_order_relaxed); }
  // As of the last whole walk: the clients that keep a name, and the names, those that most clients
  // keep first.
  std::uint64_t keeping() const { return keeping_.load(std::memory_order_relaxed); }
  std::vector<Listed> listed() const;

 private:
  using Place = std::pair<std::size_t, std::size_t>;  // clients, number of the name

  void add(std::size_t number, std::size_t clients);
  void publish(const NearTable& table);
  void set_listed(std::vector<Listed> listed);

  std::atomic<std::uint64_t> clients_{0}, kept_{0}, names_{0}, keeping_{0};
  // Of the walk that goes on:
  bool is_on_ = false;
  TimePoint begun_at_{};
  std::size_t next_name_ = 0, next_client_ = 0;
  std::uint64_t keeping_so_far_ = 0;
  std::vector<Place> most_;  // a heap, the least one first; at most kListed
  bool has_listed_ = false;

  mutable std::mutex mutex_;  // guards listed_
  std::vector<Listed> listed_;
};

}  // namespace heatsink::proxy
