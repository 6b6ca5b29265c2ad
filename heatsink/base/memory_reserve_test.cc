// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/memory_reserve.h"

#include <gtest/gtest.h>

#include <new>
#include <thread>
#include <vector>

namespace heatsink {
namespace {

// What `new` does when malloc() has failed.
void ask() { std::get_new_handler()(); }

class MemoryReserve : public testing::Test {
 protected:
  MemoryReserve() { keep_memory_reserve(); }
  ~MemoryReserve() override { std::set_new_handler(nullptr); }
};

TEST_F(MemoryReserve, IsGivenInPartsUntilNothingIsLeft) {
  EXPECT_EQ(memory_reserve_bytes(), kMemoryReserveBytes);
  std::size_t before = memory_reserve_bytes();
  while (before > 0) {
    ask();
    EXPECT_LT(memory_reserve_bytes(), before);
    before = memory_reserve_bytes();
  }
  EXPECT_THROW(ask(), std::bad_alloc);
}

TEST_F(MemoryReserve, IsFilledAgain) {
  ask();
  ASSERT_LT(memory_reserve_bytes(), kMemoryReserveBytes);
  refill_memory_reserve();
  EXPECT_EQ(memory_reserve_bytes(), kMemoryReserveBytes);
}

TEST_F(MemoryReserve, IsNotForWorkThatMayFailAlone) {
  {
    const NoMemoryReserve outer;
    {
      const NoMemoryReserve inner;
      EXPECT_THROW(ask(), std::bad_alloc);
    }
    EXPECT_THROW(ask(), std::bad_alloc);
    EXPECT_EQ(memory_reserve_bytes(), kMemoryReserveBytes);
    std::thread([] { EXPECT_NO_THROW(ask()); }).join();  // another thread is not concerned
  }
  EXPECT_NO_THROW(ask());
}

// For tsan, and to see that no part is given twice.
TEST_F(MemoryReserve, ThreadsTakeAndFill) {
  std::vector<std::thread> threads;
  threads.reserve(3);
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([] {
      for (int n = 0; n < 1000; ++n) {
        try {
          ask();
        } catch (const std::bad_alloc&) {
          std::this_thread::yield();
        }
      }
    });
  }
  threads.emplace_back([] {
    for (int n = 0; n < 1000; ++n) refill_memory_reserve();
  });
  for (std::thread& thread : threads) thread.join();
  refill_memory_reserve();
  EXPECT_EQ(memory_reserve_bytes(), kMemoryReserveBytes);
}

}  // namespace
}  // namespace heatsink
