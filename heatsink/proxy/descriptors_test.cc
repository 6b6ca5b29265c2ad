// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/descriptors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heatsink::proxy {
namespace {

using ::testing::HasSubstr;

policy::ProxyOptions options_for(std::int64_t clients) {
  policy::ProxyOptions options;
  options.workers = 2;
  options.clients_max = clients;
  options.private_connections_idle = 16;
  return options;
}

TEST(Descriptors, EnoughForAll) {
  const auto plan = plan_descriptors(options_for(10'000), 20'000);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->connections_max, 20'000u - 92);
  EXPECT_EQ(plan->warning, "");
}

TEST(Descriptors, TooFewLowerTheNumberOfClientsAndSaySo) {
  const auto plan = plan_descriptors(options_for(10'000), 1024);
  ASSERT_TRUE(plan.ok());
  EXPECT_EQ(plan->connections_max, 1024u - 92);
  EXPECT_THAT(plan->warning,
              HasSubstr("proxy.maximum-clients is 10000, but the limit of 1024 file descriptors "
                        "(ulimit -n) is enough for 932 clients"));
  EXPECT_THAT(plan->warning, HasSubstr("at least 10092"));
}

TEST(Descriptors, VeryFewAreSharedWithClients) {
  EXPECT_EQ(plan_descriptors(options_for(10), 40)->connections_max, 20u);
}

TEST(Descriptors, WithoutOnesOfItsOwnItDoesNotStart) {
  const auto plan = plan_descriptors(options_for(10), 27);
  ASSERT_FALSE(plan.ok());
  EXPECT_THAT(plan.error().message, HasSubstr("at least 28 file descriptors with 2 workers"));
  EXPECT_TRUE(plan_descriptors(options_for(10), 28).ok());
}

}  // namespace
}  // namespace heatsink::proxy
