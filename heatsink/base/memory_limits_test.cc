// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/memory_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace heatsink {
namespace {

class ControlGroups : public ::testing::Test {
 protected:
  ControlGroups()
      : root_(::testing::TempDir() + "heatsink-memory-limits-" + std::to_string(getpid())) {
    std::filesystem::remove_all(root_);
  }
  ~ControlGroups() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  const std::string root_;
};

TEST_F(ControlGroups, TheLeastUpToTheRoot) {
  put("/a/b/memory.max", "max\n");
  put("/a/memory.max", "400000000\n");
  put("/memory.max", "900000000\n");
  EXPECT_EQ(control_group_limit(root_, "0::/a/b\n"), 400'000'000u);
  EXPECT_EQ(control_group_limit(root_, "0::/\n"), 900'000'000u);
  EXPECT_EQ(control_group_limit(root_, "0::/elsewhere/c"), 900'000'000u);
}

TEST_F(ControlGroups, TheOlderForm) {
  put("/memory/docker/x/memory.limit_in_bytes", "300000000\n");
  put("/memory/memory.limit_in_bytes", "9223372036854771712\n");
  const std::string membership = "12:cpu,cpuacct:/docker/x\n7:memory:/docker/x\n0::/\n";
  EXPECT_EQ(control_group_limit(root_, membership), 300'000'000u);
  EXPECT_EQ(control_group_limit(root_, "7:memory:/\n"), 0u) << "that number means none";
}

TEST_F(ControlGroups, NoneAndNonsense) {
  EXPECT_EQ(control_group_limit(root_, ""), 0u);
  EXPECT_EQ(control_group_limit(root_, "no colon\n:\n::\n0::\n"), 0u);
  put("/memory.max", "x");
  EXPECT_EQ(control_group_limit(root_, "0::/\n"), 0u);
}

TEST(MemoryLimits, ShareIsOfTheLeast) {
  constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
  EXPECT_EQ(share_for_buffers({.machine = 8 * kGiB}).count, 4 * kGiB);
  EXPECT_EQ(share_for_buffers({.machine = 8 * kGiB, .control_group = kGiB}).count, kGiB / 2);
  EXPECT_EQ(share_for_buffers({.machine = 8 * kGiB, .address_space = kGiB}).count, kGiB / 4);
  EXPECT_EQ(share_for_buffers({}).count, kGiB);
  EXPECT_EQ(share_for_buffers({.control_group = 1}).count, kGiB / 64);
  EXPECT_EQ(share_for_buffers({.address_space = 1}).count, kGiB / 64);
}

TEST(MemoryLimits, ThisMachineHasSome) { EXPECT_GT(memory_limits().machine, 0u); }

}  // namespace
}  // namespace heatsink
