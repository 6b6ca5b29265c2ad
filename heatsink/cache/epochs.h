// SPDX-License-Identifier: Apache-2.0
// Frees retired objects once no reader thread can hold a reference to them (QSBR).
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
// synchronization", JPDC 2007). The end of each turn of a worker's event loop is its quiescent
// state, so a look-up itself costs nothing. Each reader thread owns one Reader. One writer thread
// retires and collects.
//
// Why every operation is seq_cst: a reader stores "online since n" and then loads a shared pointer;
// the writer stores the new pointer and then loads the readers' states. With a weaker order each
// may miss the other's store (on x86 too), and the writer would free an object that the reader
// holds.
class Epochs {
 public:
  static constexpr std::size_t kReadersMax = 128;

  class Reader {
   public:
    // Declares that the thread holds no reference now; later seq_cst loads may take new ones. Call
    // it at least once per turn: until then, all objects retired meanwhile stay in memory.
    void quiescent() noexcept { seen_.store(epochs_->current_.load(), std::memory_order_seq_cst); }
    // Declares that the thread holds no reference and takes none until the next quiescent(). For
    // threads that sleep.
    void offline() noexcept { seen_.store(kOffline, std::memory_order_seq_cst); }

   private:
    friend class Epochs;
    Epochs* epochs_ = nullptr;
    alignas(64) std::atomic<std::uint64_t> seen_{kOffline};
  };

  Epochs() = default;
  ~Epochs();  // REQUIRES that all readers are offline for good
  Epochs(const Epochs&) = delete;

  // Call it before the threads start. The reader lives as long as this object. REQUIRES fewer than
  // kReadersMax readers so far.
  Reader& add_reader();

  // Writer's thread. A later collect() calls `free` when no reader can hold the object. REQUIRES
  // that new readers cannot find it (a seq_cst store has unlinked it). `bytes`: its size, which
  // retired_bytes() adds up.
  void retire(std::function<void()> free, std::size_t bytes = 0);
  template <class T>
  void retire(const T* object, std::size_t bytes = 0) {
    retire([object] { delete object; }, bytes);
  }
  void collect();  // O(readers + freed objects)

  // Writer's thread. has_passed() is true once each reader has had a quiescent state, or has been
  // offline, after the call that returned the number: it then sees what the writer stored (seq_cst)
  // before that call, and the writer sees what it stored before that state. O(readers).
  std::uint64_t begin_grace_period() { return current_.fetch_add(1) + 1; }
  bool has_passed(std::uint64_t grace_period) const { return grace_period <= oldest(); }

  std::size_t retired() const { return retired_.size(); }
  std::size_t retired_bytes() const { return retired_bytes_; }

 private:
  static constexpr std::uint64_t kOffline = 0;
  struct Retired {
    std::uint64_t epoch;
    std::size_t bytes;
    std::function<void()> free;
  };

  std::uint64_t oldest() const;  // that an online reader may be in

  std::atomic<std::uint64_t> current_{1};
  std::array<Reader, kReadersMax> readers_;
  std::size_t reader_count_ = 0;
  std::deque<Retired> retired_;  // by rising epoch
  std::size_t retired_bytes_ = 0;
};

}  // namespace heatsink::cache
