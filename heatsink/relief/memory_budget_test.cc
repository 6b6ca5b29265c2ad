// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/memory_budget.h"

#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

constexpr std::uint64_t kStep = MemoryBudget::kStepBytes;

TEST(MemoryBudget, TightAtHalfAndExhaustedAtTheEnd) {
  MemoryBudget budget(Bytes{10 * kStep});
  MemoryShare share(budget);
  EXPECT_TRUE(share.note(5 * kStep));
  EXPECT_FALSE(budget.is_tight());
  EXPECT_TRUE(share.note(6 * kStep));
  EXPECT_TRUE(budget.is_tight());
  EXPECT_TRUE(share.note(10 * kStep));
  EXPECT_FALSE(budget.is_exhausted());
  EXPECT_TRUE(share.note(11 * kStep));
  EXPECT_TRUE(budget.is_exhausted());
  EXPECT_FALSE(share.note(0)) << "less of it is no news to act on";
  EXPECT_FALSE(budget.is_tight());
}

TEST(MemoryBudget, SmallChangesAreNotReported) {
  MemoryBudget budget(Bytes{10 * kStep});
  MemoryShare share(budget);
  EXPECT_FALSE(share.note(kStep - 1));
  EXPECT_EQ(budget.used_bytes(), 0u);
  EXPECT_TRUE(share.note(kStep));
  EXPECT_FALSE(share.note(2 * kStep - 1));
  EXPECT_EQ(budget.used_bytes(), kStep);
}

TEST(MemoryBudget, AClientThatEndsGivesBackAll) {
  MemoryBudget budget(Bytes{10 * kStep});
  MemoryShare stays(budget);
  stays.note(kStep);
  {
    MemoryShare ends(budget);
    ends.note(7 * kStep);
    EXPECT_EQ(budget.used_bytes(), 8 * kStep);
  }
  EXPECT_EQ(budget.used_bytes(), kStep);
}

}  // namespace
}  // namespace heatsink::proxy
