// SPDX-License-Identifier: Apache-2.0
#include "heatsink/report/replicas_report.h"

#include <gtest/gtest.h>

#include <vector>

namespace heatsink::report {
namespace {

TEST(ReplicasJson, SaysWhyAReplicaIsNotRead) {
  std::vector<ReplicaReport> replicas(2);
  replicas[0] = {.address = "10.0.0.5:6379",
                 .zone = "eu\n",
                 .is_near = true,
                 .age = Millis(250),
                 .is_fresh = true,
                 .sent = 7};
  replicas[1] = {.address = "[::1]:1", .fault = "behind"};
  EXPECT_EQ(replicas_json(replicas),
            R"({"replicas":[{"address":"10.0.0.5:6379","zone":"eu\\n","near":true,)"
            R"("age_seconds":2.5E-1,"fresh":true,"fault":null,"sent":7},)"
            R"({"address":"[::1]:1","zone":null,"near":false,"age_seconds":null,"fresh":false,)"
            R"("fault":"behind","sent":0}]})"
            "\n");
  EXPECT_EQ(replicas_json({}), "{\"replicas\":[]}\n");
}

}  // namespace
}  // namespace heatsink::report
