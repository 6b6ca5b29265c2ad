// SPDX-License-Identifier: Apache-2.0
#include "heatsink/httpd/access.h"

#include <gtest/gtest.h>

namespace heatsink::httpd {
namespace {

TEST(HostHeader, LocalhostAndAddressesAreTrusted) {
  for (const char* host : {"localhost", "LocalHost:6390", "127.0.0.1", "127.0.0.1:6390", "[::1]",
                           "[::1]:6390", "10.0.0.7:80", "localhost:"}) {
    EXPECT_TRUE(is_trusted_host(host)) << host;
  }
}

TEST(HostHeader, NamesAreNot) {
  for (const char* host : {"", "evil.example", "evil.example:6390", "localhost.evil.example",
                           "127.0.0.1.evil.example", "evil.example:127.0.0.1", "[::1", "[::1]evil",
                           "[evil]", "::1", "localhost:6390x", "localhost:123456", "[::1]:x",
                           "[::1%evil.example]", "user@127.0.0.1", "127.0.0.1 evil", "127.1"}) {
    EXPECT_FALSE(is_trusted_host(host)) << host;
  }
}

TEST(Bearer, TheTokenAndNothingElse) {
  EXPECT_TRUE(bears_token("Bearer s3cret", "s3cret"));
  EXPECT_TRUE(bears_token("bearer s3cret", "s3cret"));
  EXPECT_FALSE(bears_token(std::nullopt, "s3cret"));
  for (const char* bad : {"", "Bearer", "Bearer ", "s3cret", "Basic s3cret", "Bearer s3cre",
                          "Bearer s3crets", "Bearer  s3cret", "Bearer S3cret"})
    EXPECT_FALSE(bears_token(bad, "s3cret")) << bad;
}

}  // namespace
}  // namespace heatsink::httpd
