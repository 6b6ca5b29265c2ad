// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/server_info.h"

#include <gtest/gtest.h>

namespace heatsink::observe {
namespace {

constexpr std::string_view kInfo =
    "# Server\r\nredis_version:7.2.4\r\nvalkey_version:8.1.1\r\n# Stats\r\n"
    "total_commands_processed:100\r\nbad:1x\r\n";
constexpr std::string_view kCpu =
    "# CPU\r\nused_cpu_sys:1.5\r\nused_cpu_user:2.5\r\nused_cpu_sys_main_thread:1\r\n"
    "used_cpu_user_main_thread:2\r\n";

TEST(ServerInfo, WorkIsTheMainThreads) {
  const auto work = work_of(kInfo, kCpu);
  ASSERT_TRUE(work);
  EXPECT_EQ(work->commands, 100);
  EXPECT_EQ(work->cpu_seconds, 3);
  EXPECT_EQ(work_of(kInfo, kCpu.substr(0, kCpu.find("used_cpu_sys_main")))->cpu_seconds, 4);
  EXPECT_FALSE(work_of("", kCpu));
  EXPECT_FALSE(work_of(kInfo, ""));
}

}  // namespace
}  // namespace heatsink::observe
