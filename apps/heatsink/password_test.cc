// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/password.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>

#include "heatsink/net/net.h"

namespace heatsink::app {
namespace {

using ::testing::HasSubstr;

std::string file_with(const std::string& content) {
  std::string path =
      ::testing::TempDir() + "heatsink-upstream-password-" + std::to_string(getpid());
  std::ofstream(path, std::ios::binary) << content;
  return path;
}

TEST(WithPassword, OfAnyUrlAndAnyPassword) {
  for (const char* url :
       {"redis://db", "redis://db:7000/3", "rediss://@db", "redis://:@db", "valkey://[::1]:6379",
        "unix:///run/redis.sock", "unix://@/run/redis.sock?db=1", "redis://app@db",
        "redis://app:@db", "unix://app@/run/redis.sock"}) {
    const auto before = *net::parse_redis_url(url);
    const auto after = net::parse_redis_url(with_password(url, "s3/cr:e@t%"));
    ASSERT_TRUE(after.ok()) << url;
    EXPECT_EQ(after->password, "s3/cr:e@t%") << url;
    EXPECT_EQ(after->user, before.user) << url;
    EXPECT_EQ(after->where(), before.where()) << url;
    EXPECT_EQ(after->db, before.db) << url;
    EXPECT_EQ(after->tls, before.tls) << url;
    EXPECT_EQ(with_password(url, ""), url);
  }
}

struct TakePassword : ::testing::Test {
  ~TakePassword() override { unsetenv(kUpstreamVariable); }
  std::string taken() {
    EXPECT_TRUE(take_password(options).ok());
    return net::parse_redis_url(options.upstream)->password;
  }
  policy::ProxyOptions options;
};

TEST_F(TakePassword, FromTheFile) {
  setenv(kUpstreamVariable, "other", 1);
  options.upstream = "redis://app@db";
  options.upstream_password_file = file_with("s3cret\n");
  EXPECT_EQ(taken(), "s3cret");
}

TEST_F(TakePassword, FromTheEnvironmentWhereTheUrlHasNone) {
  EXPECT_EQ(taken(), "");
  setenv(kUpstreamVariable, "s3cret", 1);
  EXPECT_EQ(taken(), "s3cret");
  options.upstream = "redis://:own@db";
  EXPECT_EQ(taken(), "own");
}

TEST_F(TakePassword, AFileThatHasNoneIsNamed) {
  options.upstream_password_file = "/nowhere/password";
  EXPECT_THAT(take_password(options).error().message,
              HasSubstr("upstream.password-file: '/nowhere/password' cannot be read"));
  options.upstream_password_file = file_with("\n");
  EXPECT_THAT(take_password(options).error().message, HasSubstr("upstream.password-file: "));
}

}  // namespace
}  // namespace heatsink::app
