// SPDX-License-Identifier: Apache-2.0
#include "heatsink/base/cpu_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "heatsink/base/file_text.h"

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

}  // namespace
}  // namespace heatsink
