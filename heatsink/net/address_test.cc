// SPDX-License-Identifier: Apache-2.0
#include "heatsink/net/address.h"

#include <gtest/gtest.h>

namespace heatsink::net {
namespace {

TEST(HostPort, ReadAndWritten) {
  for (const char* text :
       {"127.0.0.1:6379", "redis.example:1", "[::1]:6379", ":0", "[fe80::1%eth0]:65535"}) {
    const auto parsed = parse_host_port(text);
    ASSERT_TRUE(parsed.ok()) << text;
    EXPECT_EQ(parsed->text(), text);
  }
  EXPECT_EQ(parse_host_port("[::1]:6379")->host, "::1");
  EXPECT_EQ(parse_host_port(":6380")->host, "");
}

TEST(HostPort, NonsenseIsRefusedWithTheFix) {
  for (const char* bad : {"", "host", "host:", "host:65536", "host:-1", "host:1x", "::1:6379",
                          "[::1]", "[::1:1", "[]:1", "[host]:1", "ho st:1", "redis://host:1"}) {
    const auto parsed = parse_host_port(bad);
    ASSERT_FALSE(parsed.ok()) << bad;
    EXPECT_EQ(parsed.error().code, ErrorCode::kInvalidArgument);
    EXPECT_NE(parsed.error().message.find("[ipv6]:port"), std::string::npos);
  }
}

TEST(RedisUrl, AllItsParts) {
  const auto url = parse_redis_url("redis://al%69ce:p%40ss@h.example:7000/12");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->address.text(), "h.example:7000");
  EXPECT_EQ(url->user, "alice");
  EXPECT_EQ(url->password, "p@ss");
  EXPECT_EQ(url->db, 12u);
  EXPECT_EQ(url->display(), "redis://alice@h.example:7000/12");
  EXPECT_EQ(url->redacted(), "redis://alice:***@h.example:7000/12");
}

TEST(RedisUrl, WhatIsNotGivenHasADefault) {
  const auto url = parse_redis_url("redis://[::1]");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->address.text(), "[::1]:6379");
  EXPECT_EQ(url->user, "");
  EXPECT_EQ(url->password, "");
  EXPECT_EQ(url->db, 0u);
  EXPECT_EQ(url->display(), "redis://[::1]:6379");
  EXPECT_EQ(url->redacted(), "redis://[::1]:6379");
  EXPECT_TRUE(parse_redis_url("redis://host/").ok());
}

TEST(RedisUrl, WithoutASchemeItIsAServerAllTheSame) {
  EXPECT_EQ(parse_redis_url("127.0.0.1:6379")->display(), "redis://127.0.0.1:6379");
  EXPECT_EQ(parse_redis_url("db7")->display(), "redis://db7:6379");
  EXPECT_EQ(parse_redis_url("[::1]:7/3")->display(), "redis://[::1]:7/3");
  EXPECT_EQ(parse_redis_url("al:s3cret@db7:7000")->redacted(), "redis://al:***@db7:7000");
  EXPECT_EQ(parse_redis_url("/run/redis.sock")->display(), "unix:///run/redis.sock");
  EXPECT_EQ(parse_redis_url("unix:/run/redis.sock")->where(), "unix:/run/redis.sock");
  EXPECT_FALSE(parse_redis_url("db7")->tls);
  for (const char* whole : {"redis://db7", "http://db7", "unix:///s", ""})
    EXPECT_EQ(with_scheme(whole), whole);
}

// An error must not propose a form that the caller may refuse.
TEST(RedisUrl, NoErrorProposesADatabase) {
  for (const char* bad : {"http://host", "redis://host/x", "redis://", "host:x"})
    EXPECT_EQ(parse_redis_url(bad).error().message.find("/0"), std::string::npos) << bad;
  EXPECT_EQ(parse_redis_url("http://host").error().message.find("db]"), std::string::npos);
}

TEST(RedisUrl, APasswordWithoutAUserAndWithABareAt) {
  EXPECT_EQ(parse_redis_url("redis://:s3cret@host")->password, "s3cret");
  EXPECT_EQ(parse_redis_url("redis://u:a@b:c@host")->password, "a@b:c");
}

TEST(UpstreamUrl, SeveralAddressesAndWhatTheyAre) {
  const auto cluster = parse_upstream_url("rediss+cluster://u:p@a:7000,b,[::1]:7002");
  ASSERT_TRUE(cluster.ok());
  EXPECT_EQ(cluster->topology, Topology::kCluster);
  EXPECT_TRUE(cluster->tls);
  EXPECT_EQ(cluster->address.text(), "a:7000");
  ASSERT_EQ(cluster->others.size(), 2U);
  EXPECT_EQ(cluster->others[0].text(), "b:6379");
  EXPECT_EQ(cluster->display(), "rediss+cluster://u@a:7000,b:6379,[::1]:7002");
  const auto sentinel = parse_upstream_url("valkey+sentinel://:p@a,b:1/my%2Fmaster/3");
  ASSERT_TRUE(sentinel.ok());
  EXPECT_EQ(sentinel->address.text(), "a:26379");
  EXPECT_EQ(sentinel->master_name, "my/master");
  EXPECT_EQ(sentinel->db, 3U);
  EXPECT_EQ(sentinel->redacted(), "redis+sentinel://:***@a:26379,b:1/my%2Fmaster/3");
  EXPECT_EQ(parse_upstream_url("redis+replicas://a,b/1")->display(),
            "redis+replicas://a:6379,b:6379/1");
  EXPECT_EQ(parse_upstream_url("db7")->topology, Topology::kServer);
}

TEST(UpstreamUrl, RefusedWithWhatToWrite) {
  const auto refusal = [](std::string_view text) {
    const auto url = parse_upstream_url(text);
    return url.ok() ? std::string("accepted") : url.error().message;
  };
  EXPECT_NE(refusal("redis+sentinel://a,b").find("redis+sentinel://host:26379/mymaster"),
            std::string::npos);
  EXPECT_NE(refusal("redis+cluster://a/1").find("no database 1"), std::string::npos);
  EXPECT_NE(refusal("redis+cluster://a,,b").find("malformed"), std::string::npos);
  EXPECT_NE(refusal("redis+other://a").find("not a server's address"), std::string::npos);
  EXPECT_NE(refusal("unix+cluster:///a").find("not a server's address"), std::string::npos);
  std::string many = "redis+cluster://a";
  for (std::size_t i = 0; i < kAddressesMax; ++i) many += ",a";
  EXPECT_NE(refusal(many).find("more than 64"), std::string::npos);
  EXPECT_NE(refusal("redis://a,b").find("redis+cluster://a,b"), std::string::npos);
  EXPECT_NE(parse_redis_url("redis+cluster://a").error().message.find("one server"),
            std::string::npos);
}

TEST(RedisUrl, RefusedWithTheReasonAndWithoutThePassword) {
  for (const char* bad :
       {"", ":6379", "/", "unix:relative:x", "http://host", "http://u:hush@host", "redis://",
        "redis://:hush@", "redis://u:hush%@host", "redis://u:hush%zz@h", "redis://u:hush@host:0",
        "redis://u:hush@host:x", "redis://u:hush@host/x", "redis://u:hu/sh@host",
        "redis://u:hush@[::1]6379", "redis://u:hush@host/-1", "redis://u:hush@host/99999999999"}) {
    const auto url = parse_redis_url(bad);
    ASSERT_FALSE(url.ok()) << bad;
    EXPECT_EQ(url.error().code, ErrorCode::kInvalidArgument) << bad;
    EXPECT_EQ(url.error().message.find("hush"), std::string::npos) << bad;
  }
}

TEST(RedisUrl, TheSchemeSaysWhetherItIsTls) {
  EXPECT_FALSE(parse_redis_url("redis://host")->tls);
  EXPECT_FALSE(parse_redis_url("valkey://host")->tls);
  EXPECT_TRUE(parse_redis_url("valkeys://host")->tls);
  const auto url = parse_redis_url("rediss://u:hush@host:7000/2");
  ASSERT_TRUE(url.ok());
  EXPECT_TRUE(url->tls);
  EXPECT_EQ(url->display(), "rediss://u@host:7000/2");
  EXPECT_EQ(url->redacted(), "rediss://u:***@host:7000/2");
}

TEST(RedisUrl, UnixSocketsWithTheirDatabase) {
  const auto url = parse_redis_url("unix://u:hush@/run/a%20b/redis.sock?db=3");
  ASSERT_TRUE(url.ok());
  EXPECT_EQ(url->unix_path, "/run/a b/redis.sock");
  EXPECT_EQ(url->password, "hush");
  EXPECT_EQ(url->db, 3u);
  EXPECT_EQ(url->where(), "unix:/run/a b/redis.sock");
  EXPECT_EQ(url->display(), "unix://u@/run/a%20b/redis.sock?db=3");
  EXPECT_EQ(url->redacted(), "unix://u:***@/run/a%20b/redis.sock?db=3");
  EXPECT_EQ(parse_redis_url("unix:///s")->db, 0u);
  for (const char* bad : {"unix://", "unix://relative", "unix:///s?db=x", "unix:///s?x=1",
                          "unix:///s?db=", "unix:///folder/", "unix:///s%zz", "unix:///s%00"}) {
    EXPECT_FALSE(parse_redis_url(bad).ok()) << bad;
  }
}

TEST(NetworkOf, AnAddressOrASixtyFour) {
  EXPECT_EQ(network_of("10.0.0.7:1"), network_of("10.0.0.7:2"));
  EXPECT_NE(network_of("10.0.0.7:1"), network_of("10.0.0.8:1"));
  EXPECT_EQ(network_of("[2001:db8::1]:1"), network_of("[2001:db8::ffff:1]:2"));
  EXPECT_NE(network_of("[2001:db8::1]:1"), network_of("[2001:db8:0:1::1]:1"));
  EXPECT_NE(network_of("[::ffff:10.0.0.7]:1"), network_of("[::ffff:10.0.0.8]:1"));
  EXPECT_EQ(network_of("unix:"), "");
}

TEST(Endpoint, TcpAndUnixAreTakenBack) {
  for (const char* text : {"127.0.0.1:6380", "[::1]:1", ":0", "unix:/run/heatsink.sock"}) {
    const auto endpoint = parse_endpoint(text);
    ASSERT_TRUE(endpoint.ok()) << text;
    EXPECT_EQ(endpoint->text(), text);
  }
  EXPECT_TRUE(parse_endpoint("unix:/s")->is_unix());
  EXPECT_FALSE(parse_endpoint("unix:relative").ok());
  EXPECT_TRUE(parse_endpoint("unix:/" + std::string(kUnixPathBytesMax - 1, 'x')).ok());
  EXPECT_EQ(parse_endpoint("unix:/" + std::string(kUnixPathBytesMax, 'x')).error().code,
            ErrorCode::kOutOfRange);
}

}  // namespace
}  // namespace heatsink::net
