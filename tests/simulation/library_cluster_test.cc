// SPDX-License-Identifier: Apache-2.0
// What the library keeps just after a key has got another master, in virtual time. Random histories
// hardly ever meet it: an old master that still answers holds back the replies about keys that were
// written there, and what waits behind them.
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/client/client.h"
#include "tests/simulation/fibers.h"
#include "tests/simulation/simulated_cluster.h"

namespace heatsink::simulation {
namespace {

using std::chrono::seconds;

class LibraryInAClusterTest : public testing::Test {
 protected:
  static constexpr Nanos kNodeTimeout = seconds(1);

  // Runs it in a fiber, with a client whose one key is hot and has a copy.
  void play(const std::function<void()>& scene) {
    recorder_.prefix = "k";
    recorder_.know(0);
    client::ClientOptions options;
    options.server_url = cluster_.url();
    options.tick = Millis(10);
    options.refresh_enabled = false;
    client_.emplace(options, runtime_);
    fibers_.spawn([&] {
      fibers_.pause_for(seconds(1));  // it connects, and proves
      EXPECT_EQ(at_owner({"SET", kKey, "old"}), "+OK\r\n");
      const std::vector<std::string> keys = {kKey};
      EXPECT_TRUE(client_->warm(keys, loader(), seconds(30)).empty());
      wait_for([this] { return has_copy(); });
      scene();
      client_->close();
      client_.reset();
    });
    scheduler_.run_until(scheduler_.now() + std::chrono::minutes(1));
    EXPECT_EQ(fibers_.alive(), 0U);
  }

  // Returns when the client knows that the key has another master.
  void take_over() {
    const ModelPort replica = cluster_.replica_of(cluster_.owner_of(kKey));
    EXPECT_EQ(cluster_.node(replica).server().ask({"CLUSTER", "FAILOVER", "TAKEOVER"}), "+OK\r\n");
    wait_for([this] { return !has_copy(); });
  }

  std::string at_owner(const std::vector<std::string_view>& request) {
    return cluster_.node(cluster_.owner_of(kKey)).server().ask(request);
  }

  // An application's: where it reads is not known.
  static std::function<std::optional<std::string>(const std::string&)> loader() {
    return [](const std::string&) { return std::optional<std::string>("old"); };
  }
  std::string get() { return client_->get(kKey, loader()).value().value_or(""); }
  bool has_copy() { return client_->peek(kKey).is_hit(); }
  void wait_for(const std::function<bool()>& holds) {
    for (int i = 0; i < 10'000 && !holds(); ++i) fibers_.pause_for(Millis(1));
    EXPECT_TRUE(holds());
  }

  const std::string kKey = "k0";
  Scheduler scheduler_{11};
  Network network_{scheduler_, {}};
  consistency::Recorder recorder_;
  const WallClock clock_;
  SimulatedCluster cluster_{
      network_, recorder_, clock_, {.masters = 3, .nodes = {.node_timeout = kNodeTimeout}}};
  Fibers fibers_{scheduler_, std::chrono::microseconds(1), std::chrono::microseconds(50)};
  FiberRuntime runtime_{fibers_, network_, "library"};
  std::optional<client::Client<>> client_;
};

// The old master may answer for half its time-out, and the application's client may ask it.
TEST_F(LibraryInAClusterTest, KeepsNothingOfALoaderThatMayHaveAskedTheOldMaster) {
  play([this] {
    take_over();
    const TimePoint known_at = scheduler_.now();
    while (scheduler_.now() - known_at < kNodeTimeout / 2 + Millis(900)) {
      EXPECT_EQ(get(), "old");
      EXPECT_FALSE(has_copy());
      fibers_.pause_for(Millis(50));
    }
    fibers_.pause_for(Millis(200));
    EXPECT_EQ(get(), "old");
    EXPECT_TRUE(has_copy());
  });
}

// Its own read asks the master that tracks the key.
TEST_F(LibraryInAClusterTest, KeepsWhatItHasReadItselfAtOnce) {
  play([this] {
    take_over();
    wait_for([this] {
      EXPECT_EQ(client_->get(kKey).value(), "old");
      return has_copy();
    });
  });
}

// The tracked node says that there is no such key, so the loader has asked another one.
TEST_F(LibraryInAClusterTest, KeepsNoValueOfAKeyThatTheTrackedNodeDoesNotHave) {
  play([this] {
    EXPECT_EQ(at_owner({"DEL", kKey}), ":1\r\n");
    wait_for([this] { return !has_copy(); });
    for (int i = 0; i < 20; ++i) {
      EXPECT_EQ(get(), "old");
      EXPECT_FALSE(has_copy());
      fibers_.pause_for(Millis(50));
    }
    EXPECT_EQ(at_owner({"SET", kKey, "old"}), "+OK\r\n");
    wait_for([this] {
      EXPECT_EQ(get(), "old");
      return has_copy();
    });
  });
}

}  // namespace
}  // namespace heatsink::simulation
