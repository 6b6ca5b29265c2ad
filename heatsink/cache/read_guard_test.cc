// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/read_guard.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

namespace heatsink::cache {
namespace {

// Runs `use` in its own thread and waits for its end.
template <class Use>
void elsewhere(Use use) {
  std::thread(use).join();
}

TEST(ReadGuards, FreeWhatNobodyCanSeeAnyMore) {
  bool freed = false;
  retire([&] { freed = true; });
  EXPECT_FALSE(freed) << "only collect_retired() frees";
  EXPECT_EQ(collect_retired(), 0U);
  EXPECT_TRUE(freed);
}

TEST(ReadGuards, KeepWhatAGuardOlderThanTheRetirementMayHold) {
  bool freed = false;
  std::optional<ReadGuard> guard(std::in_place);
  elsewhere([&] { retire([&] { freed = true; }); });
  EXPECT_EQ(collect_retired(), 1U);
  EXPECT_FALSE(freed);
  guard.reset();
  EXPECT_EQ(collect_retired(), 0U);
  EXPECT_TRUE(freed);
}

TEST(ReadGuards, NestAndOnlyTheOutermostCounts) {
  bool freed = false;
  std::optional<ReadGuard> outer(std::in_place);
  retire([&] { freed = true; });
  { const ReadGuard inner; }
  collect_retired();
  EXPECT_FALSE(freed);
  outer.reset();
  collect_retired();
  EXPECT_TRUE(freed);
}

TEST(ReadGuards, OfLaterCannotHoldWhatWasUnlinkedBefore) {
  bool freed = false;
  retire([&] { freed = true; });
  const ReadGuard guard;
  collect_retired();
  EXPECT_TRUE(freed);
}

// Readers follow a pointer that a writer keeps replacing. Freed objects are overwritten, so a
// reader without protection reads 0; the sanitizers notice the rest.
TEST(ReadGuards, NoReaderSeesWhatWasFreed) {
  struct GuardedCell {
    std::atomic<int> alive{1};
  };
  std::atomic<GuardedCell*> shared{new GuardedCell};
  std::atomic<bool> over{false};
  std::atomic<int> dead{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!over.load()) {
        const ReadGuard guard;
        if (shared.load()->alive.load() != 1) ++dead;
      }
    });
  }
  for (int i = 0; i < 20'000; ++i) {
    GuardedCell* old = shared.exchange(new GuardedCell);
    retire([old] {
      old->alive.store(0);
      delete old;
    });
    if (i % 8 == 0) collect_retired();
  }
  over = true;
  for (std::thread& reader : readers) reader.join();
  EXPECT_EQ(dead.load(), 0);
  delete shared.load();
  EXPECT_EQ(collect_retired(), 0U);
}

TEST(ReadGuards, ThreadsThatEndLeaveTheirSlotToOthers) {
  for (int i = 0; i < 200; ++i) {
    elsewhere([] { const ReadGuard guard; });
  }
  bool freed = false;
  retire([&] { freed = true; });
  collect_retired();
  EXPECT_TRUE(freed) << "a thread that ended holds nothing";
}

TEST(ReadGuards, OfOtherThreadsEndInAForkedChild) {
  std::atomic<bool> is_reading{false};
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    const ReadGuard guard;
    is_reading = true;
    is_reading.notify_one();
    is_over.wait(false);
  });
  is_reading.wait(false);
  bool freed = false;
  retire([&] { freed = true; });
  const pid_t child = fork();
  if (child == 0) {
    collect_retired();
    _exit(freed ? 0 : 1);
  }
  int status = -1;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << "what the thread held is free where there is no such thread";
  EXPECT_EQ(collect_retired(), 1U) << "and held where there is";
  is_over = true;
  is_over.notify_one();
  other.join();
  EXPECT_EQ(collect_retired(), 0U);
}

}  // namespace
}  // namespace heatsink::cache
