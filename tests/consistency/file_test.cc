// SPDX-License-Identifier: Apache-2.0
#include "tests/consistency/file.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "tests/consistency/history_for_test.h"
#include "tests/consistency/violation.h"

namespace heatsink::consistency {
namespace {

TEST(HistoryFile, KeepsEverything) {
  const std::string path = testing::TempDir() + "heatsink_history_" + std::to_string(getpid());
  HistoryMaker maker;
  maker.on(7, 2)
      .write(1, 0, 1, 250)
      .read(1, 2, 3)
      .lost_write(2, 4)
      .erase(5, 6)
      .expire(9, 7, 8)
      .barrier(9, 10);
  maker.history[1].key = 12345;
  ASSERT_TRUE(write_history(path, maker.history).ok());
  const Result<History> back = read_history(path);
  std::remove(path.c_str());
  ASSERT_TRUE(back.ok()) << back.error().message;
  ASSERT_EQ(back->size(), maker.history.size());
  for (std::size_t i = 0; i < back->size(); ++i) {
    const Op& a = maker.history[i];
    const Op& b = (*back)[i];
    EXPECT_TRUE(a.invoked == b.invoked && a.responded == b.responded && a.value == b.value) << i;
    EXPECT_TRUE(a.key == b.key && a.session == b.session && a.order == b.order) << i;
    EXPECT_TRUE(a.ttl == b.ttl && a.via == b.via && a.kind == b.kind && a.cached == b.cached) << i;
  }
}

TEST(HistoryFile, RefusesWhatIsNone) {
  const std::string path = testing::TempDir() + "heatsink_no_history_" + std::to_string(getpid());
  std::ofstream(path) << "hshist01 and too little";
  EXPECT_FALSE(read_history(path).ok());
  std::remove(path.c_str());
  EXPECT_FALSE(read_history(path).ok());
}

}  // namespace
}  // namespace heatsink::consistency
