// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/process_limits.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

namespace heatsink {
namespace {

class CpuQuota : public ::testing::Test {
 protected:
  CpuQuota() : root_(::testing::TempDir() + "heatsink-cpu-limits-" + std::to_string(getpid())) {
    std::filesystem::remove_all(root_);
  }
  ~CpuQuota() override { std::filesystem::remove_all(root_); }

  void put(const std::string& path, const std::string& text) {
    const std::filesystem::path file = root_ + path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }

  const std::string root_;
};

TEST_F(CpuQuota, IsTheLeastUpToTheRoot) {
  put("/a/b/cpu.max", "max 100000\n");
  put("/a/cpu.max", "150000 100000\n");
  put("/cpu.max", "400000 100000\n");
  EXPECT_DOUBLE_EQ(cpu_quota(root_, "0::/a/b\n"), 1.5);
  EXPECT_DOUBLE_EQ(cpu_quota(root_, "0::/\n"), 4);
}

TEST_F(CpuQuota, OfTheOlderForm) {
  put("/cpu/docker/x/cpu.cfs_quota_us", "50000\n");
  put("/cpu/docker/x/cpu.cfs_period_us", "100000\n");
  put("/cpu/cpu.cfs_quota_us", "-1\n");
  put("/cpu/cpu.cfs_period_us", "100000\n");
  EXPECT_DOUBLE_EQ(cpu_quota(root_, "7:memory:/y\n4:cpu,cpuacct:/docker/x\n0::/\n"), 0.5);
  EXPECT_DOUBLE_EQ(cpu_quota(root_, "4:cpu,cpuacct:/\n"), 0) << "-1 means none";
}

TEST_F(CpuQuota, NoneAndNonsense) {
  EXPECT_DOUBLE_EQ(cpu_quota(root_, ""), 0);
  EXPECT_DOUBLE_EQ(cpu_quota(root_, "no colon\n:\n::\n0::\n0::/missing\n"), 0);
  put("/cpu.max", "x y\n");
  EXPECT_DOUBLE_EQ(cpu_quota(root_, "0::/\n"), 0);
  put("/cpu.max", "100000\n");
  EXPECT_DOUBLE_EQ(cpu_quota(root_, "0::/\n"), 0) << "a quota without its period";
}

TEST(CpuLimits, UsableAreAtMostThoseOfTheMachine) {
  EXPECT_GT(usable_cpus(), 0);
  EXPECT_LE(usable_cpus(), std::max(1U, std::thread::hardware_concurrency()));
}

TEST(CpuLimits, IdleTimeIsTheFourthAndTheFifthNumber) {
  const double ticks = static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto idle = idle_cpu_seconds("cpu  10 20 30 4000 500 6 7 8 0 0\ncpu0 1 2 3 4 5\n");
  ASSERT_TRUE(idle.has_value());
  EXPECT_DOUBLE_EQ(*idle, 4500 / ticks);
  EXPECT_FALSE(idle_cpu_seconds("").has_value());
  EXPECT_FALSE(idle_cpu_seconds("intr 1 2 3 4\n").has_value());
  EXPECT_TRUE(idle_cpu_seconds(file_text("/proc/stat")).has_value());
}

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

TEST(FileLimits, TheSoftLimitIsRaisedToTheHardOne) {
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit low{.rlim_cur = 64, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &low), 0);
  EXPECT_EQ(raise_file_limit(), before.rlim_max);
  rlimit after{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &after), 0);
  EXPECT_EQ(after.rlim_cur, before.rlim_max);
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &before), 0);
}

}  // namespace

}  // namespace heatsink
