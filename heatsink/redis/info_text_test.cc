// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/info_text.h"

#include <gtest/gtest.h>

namespace heatsink::redis {
namespace {

constexpr std::string_view kInfo =
    "# Server\r\nredis_version:7.2.4\r\n# Stats\r\ntotal_commands_processed:100\r\nbad:1x\r\n";

TEST(InfoText, FindsFields) {
  EXPECT_EQ(info_field(kInfo, "redis_version"), "7.2.4");
  EXPECT_EQ(info_field(kInfo, "version"), "");
  EXPECT_EQ(info_field(kInfo, "redis_versio"), "");
  EXPECT_EQ(info_epoch("cluster_my_epoch:7\r\n", "cluster_my_epoch"), 7U);
  EXPECT_EQ(info_epoch("cluster_my_epoch:18446744073709551615\r\n", "cluster_my_epoch"),
            UINT64_MAX);
  for (const char* text : {"", "cluster_my_epoch:\r\n", "cluster_my_epoch:-1\r\n",
                           "cluster_my_epoch:7x\r\n", "my_epoch:7\r\n"})
    EXPECT_FALSE(info_epoch(text, "cluster_my_epoch")) << text;
  EXPECT_EQ(info_number(kInfo, "total_commands_processed"), 100);
  EXPECT_FALSE(info_number(kInfo, "bad"));
  EXPECT_FALSE(info_number(kInfo, "none"));
}

}  // namespace
}  // namespace heatsink::redis
