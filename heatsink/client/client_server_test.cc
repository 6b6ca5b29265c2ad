// SPDX-License-Identifier: Apache-2.0
// A Client with a real server: its guarantees whatever happens to the server.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "heatsink/client/client.h"
#include "heatsink/client/source_for_test.h"
#include "heatsink/resp/testing/redis_process.h"
#include "heatsink/resp/writer.h"

namespace heatsink::client {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class ClientServerTest : public testing::Test {
 protected:
  void SetUp() override {
    if (!server_.running()) GTEST_SKIP() << "redis-server is not installed or does not start";
  }

  ClientOptions options(const std::string& login = "") const {
    ClientOptions options;
    options.server_url = "unix://" + login + server_.socket_path();
    options.refresh_enabled = false;  // only the server ends a copy
    options.server_backoff_max = Millis(20);
    return options;
  }
  // Another client's command. It has been executed when this returns.
  std::string foreign(std::initializer_list<std::string_view> args) const {
    ByteBuffer out;
    resp::append_request(out, args);
    return server_.ask(out.view());
  }

  static void wait_until_up(const Client<>& client) {
    ASSERT_TRUE(eventually([&] { return client.stats().server_problem.empty(); }));
  }
  static void expect_soon(const Client<>& client, std::string_view key, std::string_view value) {
    EXPECT_TRUE(eventually([&] { return client.get(key).value() == value; })) << key << value;
  }
  // Waits for both connections: the one for commands may follow the tracker's.
  static void wait_until_served(const Client<>& client) {
    wait_until_up(client);
    ASSERT_TRUE(eventually([&] {
      try {
        static_cast<void>(client.get("heatsink:any"));
        return true;
      } catch (const ServerUnavailable&) {
        return false;
      }
    }));
  }
  // Makes the key hot, with a copy.
  static void heat(const Client<>& client, const std::string& key) {
    wait_until_served(client);
    const std::vector<std::string> keys = {key};
    EXPECT_THAT(client.warm(keys, std::chrono::hours(1)), IsEmpty());
    EXPECT_TRUE(eventually([&] { return client.get(key).is_hit(); }));
  }

  resp::testing::RedisProcess server_;
};

TEST_F(ClientServerTest, ReadsAndWritesWithoutALoader) {
  const Client<> client(options());
  client.set("a", "1");
  EXPECT_EQ(client.get("a").value(), "1");
  EXPECT_THAT(foreign({"GET", "a"}), HasSubstr("\r\n1\r\n"));
  client.set("a", std::string_view("\0\r\n", 3), Millis(100'000));
  EXPECT_EQ(client.get("a").value(), std::string("\0\r\n", 3));
  EXPECT_THAT(foreign({"TTL", "a"}), HasSubstr(":100"));
  client.del("a");
  EXPECT_FALSE(client.get("a"));
  EXPECT_EQ(client.stats().level, "key");
}

TEST_F(ClientServerTest, TheServersErrorsArePassedOn) {
  const Client<> client(options());
  foreign({"LPUSH", "list", "1"});
  try {
    static_cast<void>(client.get("list"));
    FAIL();
  } catch (const ServerError& error) {
    EXPECT_THAT(error.what(), HasSubstr("WRONGTYPE"));
  }
}

TEST_F(ClientServerTest, KeysOfTheDatabaseOfTheUrl) {
  ClientOptions in_three = options();
  in_three.server_url += "?db=3";
  const Client<> client(in_three);
  client.set("a", "3");
  foreign({"SET", "a", "0"});
  heat(client, "a");
  EXPECT_EQ(client.get("a").value(), "3");
}

TEST_F(ClientServerTest, WritesByOthersAreSeen) {
  const Client<> client(options());
  foreign({"SET", "a", "1"});
  heat(client, "a");
  for (int i = 2; i < 20; ++i) {
    foreign({"SET", "a", std::to_string(i)});
    expect_soon(client, "a", std::to_string(i));
  }
  EXPECT_GT(client.stats().invalidations, 0u);
}

TEST_F(ClientServerTest, OwnWritesAreSeenAtOnce) {
  const Client<> client(options());
  heat(client, "a");
  int hits = 0;
  for (int i = 0; i < 500; ++i) {
    client.set("a", std::to_string(i));
    for (int n = 0; n < 3; ++n) {
      const auto value = client.get("a");
      ASSERT_EQ(*value, std::to_string(i));
      hits += value.is_hit() ? 1 : 0;
    }
  }
  EXPECT_GT(hits, 0);
}

// The server reports no change before it tracks the key. If the key were tracked after the load,
// this copy would stay for a minute.
TEST_F(ClientServerTest, AKeyIsTrackedBeforeItIsLoaded) {
  const Client<> client(options());
  foreign({"SET", "a", "old"});
  heat(client, "a");
  client.invalidate("a");
  const auto loader = [&](const std::string& key) -> std::optional<std::string> {
    foreign({"SET", key, "new"});
    return "old";
  };
  EXPECT_EQ(client.get("a", loader).value(), "old");
  expect_soon(client, "a", "new");
}

TEST_F(ClientServerTest, AnyLoaderWillDo) {
  std::atomic<int> loads{0};
  const Client<int> client(options());
  ASSERT_TRUE(eventually([&] { return client.stats().server_problem.empty(); }));
  foreign({"RPUSH", "list", "x"});
  const auto length = [&](const std::string&) -> std::optional<int> { return ++loads; };
  const std::vector<std::string> keys = {"list"};
  EXPECT_THAT(client.warm(keys, length), IsEmpty());
  ASSERT_TRUE(eventually([&] { return client.get("list", length).is_hit(); }));
  const int before = loads;
  EXPECT_EQ(*client.get("list", length), before);
  foreign({"RPUSH", "list", "y"});
  EXPECT_TRUE(eventually([&] { return *client.get("list", length) > before; }));
}

TEST_F(ClientServerTest, ThatThereIsNoValueIsKeptToo) {
  const Client<> client(options());
  heat(client, "a");
  const auto nothing = client.get("a");
  EXPECT_TRUE(nothing.is_hit());
  EXPECT_FALSE(nothing);
  foreign({"SET", "a", "1"});
  expect_soon(client, "a", "1");
}

TEST_F(ClientServerTest, ColdKeysAreNotTracked) {
  const Client<> client(options());
  wait_until_up(client);
  for (int i = 0; i < 100; ++i) static_cast<void>(client.get("cold:" + std::to_string(i)));
  EXPECT_THAT(foreign({"INFO", "stats"}),
              HasSubstr("tracking_total_keys:1\r\n"));  // the heartbeat key
  heat(client, "hot");
  EXPECT_THAT(foreign({"INFO", "stats"}), HasSubstr("tracking_total_keys:2\r\n"));
}

TEST_F(ClientServerTest, ACopyEndsWithItsKey) {
  foreign({"DEBUG", "SET-ACTIVE-EXPIRE", "0"});  // otherwise a push would end it
  const Client<> client(options());
  foreign({"SET", "a", "1", "PX", "1500"});
  heat(client, "a");
  EXPECT_TRUE(eventually([&] { return !client.peek("a"); }));
  EXPECT_TRUE(eventually([&] { return !client.get("a"); }));
}

TEST_F(ClientServerTest, AllCopiesEndWithFlushall) {
  const Client<> client(options());
  foreign({"SET", "a", "1"});
  heat(client, "a");
  foreign({"FLUSHALL"});
  EXPECT_TRUE(eventually([&] { return !client.get("a"); }));
}

TEST_F(ClientServerTest, AStoppedServerEndsHitsInTime) {
  ClientOptions chosen = options();
  chosen.max_staleness = Millis(400);
  chosen.heartbeat_interval = Millis(20);
  const Client<> client(chosen);
  foreign({"SET", "a", "1"});
  heat(client, "a");
  server_.freeze();
  const TimePoint frozen_at = BootClock::now();  // no later proof was answered
  ASSERT_TRUE(eventually([&] {
    const TimePoint now = BootClock::now();
    const bool is_hit = client.peek("a").is_hit();
    EXPECT_TRUE(!is_hit || now - frozen_at <= chosen.max_staleness);
    return !is_hit;
  }));
  EXPECT_TRUE(eventually([&] { return !client.stats().server_problem.empty(); }));
  // A caller with its own loader is not affected.
  const auto loader = [](const std::string&) { return std::optional<std::string>("2"); };
  EXPECT_EQ(client.get("a", loader).value(), "2");
  server_.thaw();
  EXPECT_TRUE(eventually([&] { return client.get("a", loader).is_hit(); }));
}

TEST_F(ClientServerTest, AServerThatIsNotThereIsWaitedFor) {
  server_.stop();
  const Client<> client(options());
  EXPECT_THROW(static_cast<void>(client.get("a")), ServerUnavailable);
  EXPECT_THROW(client.set("a", "1"), ServerUnavailable);
  const auto loader = [](const std::string&) { return std::optional<std::string>("mine"); };
  EXPECT_EQ(client.get("a", loader).value(), "mine");
  EXPECT_TRUE(eventually([&] {
    return client.stats().server_problem.find("connect") != std::string::npos;
  })) << client.stats().server_problem;
  server_.restart();
  heat(client, "a");
}

TEST_F(ClientServerTest, ARestartedServerHasNoOldCopies) {
  const Client<> client(options());
  client.set("a", "1");
  heat(client, "a");
  server_.restart();
  EXPECT_TRUE(eventually([&] {
    try {
      return !client.get("a");
    } catch (const ServerUnavailable&) {
      return false;
    }
  }));
  wait_until_up(client);
  heat(client, "a");
  EXPECT_FALSE(client.get("a"));
}

TEST_F(ClientServerTest, AKilledTrackerComesBackWithoutItsCopies) {
  const Client<> client(options());
  client.set("a", "1");
  heat(client, "a");
  const std::uint64_t before = client.stats().flushes;
  foreign({"CLIENT", "KILL", "TYPE", "normal"});
  EXPECT_TRUE(eventually([&] { return client.stats().flushes > before; }));
  foreign({"SET", "a", "2"});
  wait_until_up(client);
  EXPECT_TRUE(eventually([&] {
    try {
      return client.get("a").value() == "2";
    } catch (const ServerUnavailable&) {  // the connection for commands was killed, too
      return false;
    }
  }));
  heat(client, "a");
}

TEST_F(ClientServerTest, AWrongPasswordIsToldAndARightOneServes) {
  foreign({"CONFIG", "SET", "requirepass", "secret"});
  const Client<> wrong(options("default:wrong@"));
  EXPECT_TRUE(eventually(
      [&] { return wrong.stats().server_problem.find("WRONGPASS") != std::string::npos; }));
  try {
    static_cast<void>(wrong.get("a"));
    FAIL();
  } catch (const ServerUnavailable& error) {
    EXPECT_THAT(error.what(), HasSubstr("WRONGPASS"));
  }
  const Client<> right(options(":secret@"));
  heat(right, "a");
}

TEST_F(ClientServerTest, RightsThatAreTakenEndCopies) {
  foreign({"ACL", "SETUSER", "app", "on", ">secret", "+@all", "~*", "&*"});
  const Client<> client(options("app:secret@"));
  heat(client, "a");
  foreign({"ACL", "SETUSER", "app", "resetkeys", "~heatsink:*"});
  EXPECT_TRUE(eventually([&] {
    try {
      static_cast<void>(client.get("a"));
      return false;
    } catch (const ServerError& error) {
      return std::string_view(error.what()).starts_with("NOPERM");
    }
  }));
}

TEST_F(ClientServerTest, AClosedClientKeepsAndAsksNothing) {
  const Client<> client(options());
  heat(client, "a");
  client.close();
  EXPECT_THROW(static_cast<void>(client.get("a")), ServerUnavailable);
  const auto loader = [](const std::string&) { return std::optional<std::string>("mine"); };
  EXPECT_FALSE(client.get("a", loader).is_hit());
  EXPECT_TRUE(eventually([&] {
    return foreign({"CLIENT", "LIST"}).find("name=heatsink") == std::string::npos;
  }));
}

TEST_F(ClientServerTest, AForkedChildAsksItsLoaderAndLeavesTheParentAlone) {
  const Client<> client(options());
  client.set("a", "1");
  heat(client, "a");
  const pid_t child = fork();
  if (child == 0) {
    bool is_right = false;
    {
      const auto copy = std::make_unique<const Client<>>(client);
      const auto loader = [](const std::string&) { return std::optional<std::string>("mine"); };
      is_right = copy->get("cold", loader).value() == "mine";
      try {
        static_cast<void>(copy->get("cold"));
        is_right = false;
      } catch (const ServerUnavailable&) {
      }
      copy->close();
    }
    _exit(is_right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(client.get("a").is_hit());
  client.set("a", "2");
  EXPECT_EQ(client.get("a").value(), "2");
}

TEST_F(ClientServerTest, ManyThreadsSeeTheirOwnWrites) {
  const Client<> client(options());
  heat(client, "t0");
  std::vector<std::thread> threads;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const std::string mine = "t" + std::to_string(t);
      for (int i = 0; i < 300; ++i) {
        if (i % 10 == 0) client.set(mine, std::to_string(i));
        if (client.get(mine).value() != std::to_string(i / 10 * 10)) ++wrong;
        static_cast<void>(client.get("t0"));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

// The server would report the end if it checked. Until then only the value's TTL shows it.
TEST(ClientWithAServer, WhoComesAfterTheValuesEndWaitsForALaterLoad) {
  const resp::testing::RedisProcess server;
  if (!server.running()) GTEST_SKIP() << "redis-server is not installed or does not start";
  ASSERT_EQ(server.ask({"DEBUG", "SET-ACTIVE-EXPIRE", "0"}), "+OK\r\n");
  ClientOptions options;
  options.server_url = "unix://" + server.socket_path();
  options.refresh_enabled = false;
  const Client<> client(options);
  ASSERT_TRUE(eventually([&] { return client.stats().server_problem.empty(); }));
  const std::vector<std::string> keys = {"k"};
  std::atomic<int> loads{0};
  std::atomic<bool> goes_on{false};
  const auto loader = [&](const std::string&) {
    if (++loads > 1) return std::optional<std::string>("later");
    EXPECT_TRUE(eventually([&] { return goes_on.load(); }));
    return std::optional<std::string>("brief");
  };
  ASSERT_THAT(client.warm(keys, std::chrono::hours(1)), IsEmpty());
  ASSERT_TRUE(eventually([&] { return client.get("k").is_hit(); }));
  ASSERT_EQ(server.ask({"SET", "k", "brief", "PX", "1500"}), "+OK\r\n");
  const TimePoint ends = BootClock::now() + Millis(1501);
  ASSERT_TRUE(eventually([&] { return client.stats().invalidations > 0; }));
  std::thread early([&] { EXPECT_EQ(client.get("k", loader).value(), "brief"); });
  ASSERT_TRUE(eventually([&] { return loads == 1 && BootClock::now() > ends; }));
  std::thread late([&] { EXPECT_EQ(client.get("k", loader).value(), "later"); });
  ASSERT_TRUE(eventually([&] { return client.stats().waits == 1; }));
  goes_on = true;
  early.join();
  late.join();
}

TEST(ClientOfAClusterNode, IsToldSoAndServesNothingFromCopies) {
  const resp::testing::RedisProcess node("--cluster-enabled", "yes");
  if (!node.running()) GTEST_SKIP() << "redis-server is not installed or does not start";
  node.ask("CLUSTER ADDSLOTSRANGE 0 16383\r\n");
  ClientOptions options;
  options.server_url = "unix://" + node.socket_path();
  options.server_backoff_max = Millis(20);
  const Client<> client(options);
  EXPECT_TRUE(eventually(
      [&] { return client.stats().server_problem.find("redis+cluster://") != std::string::npos; }));
  const auto loader = [](const std::string&) { return std::optional<std::string>("mine"); };
  const std::vector<std::string> keys = {"a"};
  EXPECT_THAT(client.warm(keys, loader), IsEmpty());
  EXPECT_FALSE(client.get("a", loader).is_hit());
  EXPECT_FALSE(client.get("a", loader).is_hit());
}

TEST(ClientWithABadServer, IsRefusedWhenItIsMade) {
  ClientOptions options;
  options.server_url = "http://nowhere";
  EXPECT_THROW(const Client<> client(options), std::invalid_argument);
  options.server_url = "rediss://127.0.0.1:1";
  options.server_tls_ca = "/nonexistent/ca.pem";
  EXPECT_THROW(const Client<> client(options), std::invalid_argument);
}

TEST(ClientWithoutAServer, NeedsALoader) {
  const Client<> client;
  EXPECT_THROW(static_cast<void>(client.get("a")), ServerUnavailable);
  EXPECT_EQ(client.stats().level, "ttl");
}

}  // namespace
}  // namespace heatsink::client
