// SPDX-License-Identifier: Apache-2.0
#include "heatsink/distributed/rate_limiter_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

namespace heatsink::distributed {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Of a server that is not there.
std::unique_ptr<RateLimiter> limiter_named(std::string name) {
  RateLimiterOptions options;
  options.name = std::move(name);
  options.limit.burst = 5;
  return RateLimiter::make(Server::open({.url = "redis://127.0.0.1:1"}).value(), options).value();
}

TEST(RateLimiterMetrics, AreOnePageForAllLimiters) {
  const auto one = limiter_named("one"), other = limiter_named(R"(an "other")");
  one->try_acquire("k", 6);    // more than there can ever be
  other->try_acquire("k", 1);  // asks the server
  const std::array<const RateLimiter*, 2> limiters = {one.get(), other.get()};
  const std::string page = metrics_text(limiters);
  EXPECT_THAT(page, StartsWith("# HELP heatsink_limiter_answers_total "));
  EXPECT_THAT(page, HasSubstr("\n# TYPE heatsink_limiter_answers_total counter\n"
                              "heatsink_limiter_answers_total{limiter=\"one\",answer=\"allowed\","
                              "by=\"server\"} 0\n"));
  EXPECT_THAT(page, HasSubstr("{limiter=\"one\",answer=\"refused\",by=\"denial\"} 1\n"));
  EXPECT_THAT(page, HasSubstr("heatsink_limiter_failures_total{limiter=\"one\"} 0\n"
                              "heatsink_limiter_failures_total{limiter=\"an "
                              R"(\\\"other\\\""} 1)"
                              "\n"));
  // Prometheus takes no page that describes a metric twice.
  const std::string type = "# TYPE heatsink_limiter_answers_total";
  EXPECT_EQ(page.find(type), page.rfind(type));
  EXPECT_THAT(page, HasSubstr("# TYPE heatsink_limiter_lapsed_tokens_total counter\n"));
}

}  // namespace
}  // namespace heatsink::distributed
