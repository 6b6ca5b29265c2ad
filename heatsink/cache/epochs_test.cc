// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/epochs.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

namespace heatsink::cache {
namespace {

// Counts how often it was freed.
class Freed {
 public:
  void retire_in(Epochs& epochs, std::size_t bytes = 0) {
    epochs.retire([this] { ++count_; }, bytes);
  }
  int count() const { return count_; }

 private:
  int count_ = 0;
};

TEST(Epochs, FreesAtOnceWithoutReaders) {
  Epochs epochs;
  Freed freed;
  freed.retire_in(epochs);
  EXPECT_EQ(freed.count(), 0);  // never within retire(): the caller may still use the object
  epochs.collect();
  EXPECT_EQ(freed.count(), 1);
  epochs.collect();
  EXPECT_EQ(freed.count(), 1);
}

TEST(Epochs, AReaderIsOfflineUntilItsFirstQuiescentState) {
  Epochs epochs;
  epochs.add_reader();
  Freed freed;
  freed.retire_in(epochs);
  epochs.collect();
  EXPECT_EQ(freed.count(), 1);
}

TEST(Epochs, WaitsForAReaderThatWasOnlineAtTheRetirement) {
  Epochs epochs;
  Epochs::Reader& reader = epochs.add_reader();
  reader.quiescent();
  Freed freed;
  freed.retire_in(epochs);
  epochs.collect();
  EXPECT_EQ(freed.count(), 0);
  reader.quiescent();
  epochs.collect();
  EXPECT_EQ(freed.count(), 1);
}

TEST(Epochs, WaitsForTheSlowestReader) {
  Epochs epochs;
  Epochs::Reader& quick = epochs.add_reader();
  Epochs::Reader& slow = epochs.add_reader();
  Epochs::Reader& last = epochs.add_reader();
  quick.quiescent();
  slow.quiescent();
  Freed first;
  Freed second;
  first.retire_in(epochs);
  slow.quiescent();  // releases the first object; may hold the second
  second.retire_in(epochs);
  quick.quiescent();
  last.quiescent();
  epochs.collect();
  EXPECT_EQ(first.count(), 1);
  EXPECT_EQ(second.count(), 0);
  slow.quiescent();
  epochs.collect();
  EXPECT_EQ(second.count(), 1);
}

TEST(Epochs, AnOfflineReaderHoldsNothingUp) {
  Epochs epochs;
  Epochs::Reader& reader = epochs.add_reader();
  reader.quiescent();
  Freed freed;
  freed.retire_in(epochs);
  reader.offline();
  epochs.collect();
  EXPECT_EQ(freed.count(), 1);
}

TEST(Epochs, AReaderComingOnlineAfterTheRetirementDoesNotHoldItUp) {
  Epochs epochs;
  Epochs::Reader& reader = epochs.add_reader();
  Freed freed;
  freed.retire_in(epochs);
  reader.quiescent();
  epochs.collect();
  EXPECT_EQ(freed.count(), 1);
}

TEST(Epochs, CountsTheBytesThatWait) {
  Epochs epochs;
  Epochs::Reader& reader = epochs.add_reader();
  reader.quiescent();
  Freed freed;
  freed.retire_in(epochs, 100);
  freed.retire_in(epochs, 11);
  EXPECT_EQ(epochs.retired(), 2U);
  EXPECT_EQ(epochs.retired_bytes(), 111U);
  reader.offline();
  epochs.collect();
  EXPECT_EQ(epochs.retired(), 0U);
  EXPECT_EQ(epochs.retired_bytes(), 0U);
}

TEST(Epochs, WhatIsFreedMayRetireMore) {
  Epochs epochs;
  Freed inner;
  epochs.retire([&] { inner.retire_in(epochs); });
  epochs.collect();
  epochs.collect();
  EXPECT_EQ(inner.count(), 1);
}

TEST(Epochs, TheDestructorFreesTheRest) {
  Freed freed;
  {
    Epochs epochs;
    epochs.add_reader().quiescent();
    freed.retire_in(epochs);
  }
  EXPECT_EQ(freed.count(), 1);
}

// A cell that readers read while a writer replaces and frees it at full speed. The allocator reuses
// the first words of freed memory, so even a build without sanitizers notices an error.
struct Cell {
  explicit Cell(std::uint64_t number) : value(number), check(~number) {}
  std::uint64_t value;
  std::uint64_t check;
};

void replace_many_times(std::atomic<const Cell*>& shared, Epochs& epochs, std::uint64_t times) {
  for (std::uint64_t i = 1; i <= times; ++i) {
    epochs.retire(shared.exchange(new Cell(i)));
    epochs.collect();
  }
}

// Reads until the writer has finished; every fourth turn it "sleeps". True: all cells were intact.
bool look(const std::atomic<const Cell*>& shared, Epochs::Reader& reader,
          const std::atomic<bool>& done) {
  bool whole = true;
  std::uint64_t last = 0;
  for (unsigned turn = 0; !done.load(); ++turn) {
    if (turn % 4 == 0) reader.offline();
    reader.quiescent();
    for (int i = 0; i < 3; ++i) {
      const Cell* cell = shared.load();
      std::this_thread::yield();  // gives the writer a chance to free the cell
      whole = whole && cell->check == ~cell->value && cell->value >= last;
      last = cell->value;
    }
  }
  reader.offline();
  return whole;
}

TEST(EpochsStress, NobodySeesWhatIsFreed) {
  Epochs epochs;
  std::atomic<const Cell*> shared{new Cell(0)};
  std::atomic<bool> done{false};
  std::atomic<int> whole{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    Epochs::Reader& reader = epochs.add_reader();
    readers.emplace_back([&] { whole += look(shared, reader, done) ? 1 : 0; });
  }
  replace_many_times(shared, epochs, 200'000);
  done = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(whole.load(), 3);
  epochs.collect();
  EXPECT_EQ(epochs.retired(), 0U);
  delete shared.load();
}

}  // namespace
}  // namespace heatsink::cache
