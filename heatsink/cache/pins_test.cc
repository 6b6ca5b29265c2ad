// SPDX-License-Identifier: Apache-2.0
#include "heatsink/cache/pins.h"

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

TEST(Pins, FreeWhatNobodyCanSeeAnyMore) {
  bool freed = false;
  retire([&] { freed = true; });
  EXPECT_FALSE(freed) << "only collect_retired() frees";
  EXPECT_EQ(collect_retired(), 0U);
  EXPECT_TRUE(freed);
}

TEST(Pins, KeepWhatAPinOlderThanTheRetirementMayHold) {
  bool freed = false;
  std::optional<Pin> pin(std::in_place);
  elsewhere([&] { retire([&] { freed = true; }); });
  EXPECT_EQ(collect_retired(), 1U);
  EXPECT_FALSE(freed);
  pin.reset();
  EXPECT_EQ(collect_retired(), 0U);
  EXPECT_TRUE(freed);
}

TEST(Pins, NestAndOnlyTheOutermostCounts) {
  bool freed = false;
  std::optional<Pin> outer(std::in_place);
  retire([&] { freed = true; });
  { const Pin inner; }
  collect_retired();
  EXPECT_FALSE(freed);
  outer.reset();
  collect_retired();
  EXPECT_TRUE(freed);
}

TEST(Pins, OfLaterCannotHoldWhatWasUnlinkedBefore) {
  bool freed = false;
  retire([&] { freed = true; });
  const Pin pin;
  collect_retired();
  EXPECT_TRUE(freed);
}

// Readers follow a pointer that a writer keeps replacing. Freed objects are overwritten, so a
// reader without protection reads 0; the sanitizers notice the rest.
TEST(Pins, NoReaderSeesWhatWasFreed) {
  struct PinnedCell {
    std::atomic<int> alive{1};
  };
  std::atomic<PinnedCell*> shared{new PinnedCell};
  std::atomic<bool> over{false};
  std::atomic<int> dead{0};
  std::vector<std::thread> readers;
  for (int i = 0; i < 3; ++i) {
    readers.emplace_back([&] {
      while (!over.load()) {
        const Pin pin;
        if (shared.load()->alive.load() != 1) ++dead;
      }
    });
  }
  for (int i = 0; i < 20'000; ++i) {
    PinnedCell* old = shared.exchange(new PinnedCell);
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

TEST(Pins, ThreadsThatEndLeaveTheirSlotToOthers) {
  for (int i = 0; i < 200; ++i) {
    elsewhere([] { const Pin pin; });
  }
  bool freed = false;
  retire([&] { freed = true; });
  collect_retired();
  EXPECT_TRUE(freed) << "a thread that ended holds nothing";
}

TEST(Pins, OfOtherThreadsEndInAForkedChild) {
  std::atomic<bool> is_pinned{false};
  std::atomic<bool> is_over{false};
  std::thread other([&] {
    const Pin pin;
    is_pinned = true;
    is_pinned.notify_one();
    is_over.wait(false);
  });
  is_pinned.wait(false);
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
