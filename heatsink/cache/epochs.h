// SPDX-License-Identifier: Apache-2.0
// Frees what readers may still look at, once every reader has been seen between two looks (QSBR).
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>

namespace heatsink::cache {

// Quiescent-state-based reclamation (Hart et al., "Performance of memory reclamation for lockless
// synchronization", JPDC 2007): a turn of a worker's event loop is its quiescent state, so a
// look-up itself costs nothing. Each reader thread owns one Reader; one writer thread retires and
// collects.
//
// Why all of it is seq_cst: a reader stores "online since n" and then loads a shared pointer; the
// writer stores the new pointer and then loads who is online. With anything weaker both may miss
// the other's store (on x86 too), and the reader would hold what the writer frees.
class Epochs {
 public:
  static constexpr std::size_t kReadersMax = 128;

  class Reader {
   public:
    // Holds no reference now; may take new ones, by seq_cst loads. Call it at least once per turn:
    // what is retired meanwhile stays in memory until then.
    void quiescent() noexcept { seen_.store(epochs_->current_.load(), std::memory_order_seq_cst); }
    // Holds no reference and takes none until quiescent() is called: for sleeping.
    void offline() noexcept { seen_.store(kOffline, std::memory_order_seq_cst); }

   private:
    friend class Epochs;
    Epochs* epochs_ = nullptr;
    alignas(64) std::atomic<std::uint64_t> seen_{kOffline};
  };

  Epochs() = default;
  ~Epochs();  // REQUIRES that all readers are offline for good
  Epochs(const Epochs&) = delete;

  // Before the threads start. The reader lives as long as this. REQUIRES fewer than kReadersMax so
  // far.
  Reader& add_reader();

  // Writer's thread: `free` runs in a later collect(), when no reader can hold what it frees.
  // REQUIRES that new readers can no longer find it (a seq_cst store has unlinked it). `bytes` is
  // what it occupies, for a limit on what waits.
  void retire(std::function<void()> free, std::size_t bytes = 0);
  template <class T>
  void retire(const T* object, std::size_t bytes = 0) {
    retire([object] { delete object; }, bytes);
  }
  void collect();  // O(readers + what is freed)
  std::size_t retired() const { return retired_.size(); }
  std::size_t retired_bytes() const { return retired_bytes_; }

 private:
  static constexpr std::uint64_t kOffline = 0;
  struct Retired {
    std::uint64_t epoch;
    std::size_t bytes;
    std::function<void()> free;
  };

  std::atomic<std::uint64_t> current_{1};
  std::array<Reader, kReadersMax> readers_;
  std::size_t reader_count_ = 0;
  std::deque<Retired> retired_;  // by rising epoch
  std::size_t retired_bytes_ = 0;
};

}  // namespace heatsink::cache
