// SPDX-License-Identifier: Apache-2.0
// Safeguards of the library whose schedules random histories hardly ever meet, in virtual time.
#include <gtest/gtest.h>

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/client/client.h"
#include "tests/simulation/blocking_connection.h"
#include "tests/simulation/fibers.h"
#include "tests/simulation/model_server.h"

namespace heatsink::simulation {
namespace {

constexpr std::uint16_t kServer = 6379;
constexpr std::uint16_t kNobody = 6380;  // nothing listens there
constexpr Nanos kCool = Millis(200);     // so long a key is hot that was warmed

client::ClientOptions with_server(std::uint16_t port) {
  client::ClientOptions options;
  options.server_url = "redis://127.0.0.1:" + std::to_string(port);
  options.tick = Millis(10);
  return options;
}

class LibrarySafeguards : public testing::Test {
 protected:
  LibrarySafeguards() {
    server_.run(server_loop_);
    others_.run(others_loop_);
    network_.listen(kServer, server_, [this](net::Stream stream, const std::string&) {
      model_.accept(std::move(stream));
    });
  }

  // Runs it in a fiber, which closes the client at last.
  void play(const std::function<void()>& scene, std::uint16_t port = kServer) {
    client_.emplace(with_server(port), runtime_);
    fibers_.spawn([&] {
      fibers_.pause_for(Millis(50));  // it connects meanwhile
      write("old");
      scene();
      client_->close();
      client_.reset();
    });
    scheduler_.run_until(scheduler_.now() + std::chrono::minutes(1));
    EXPECT_EQ(fibers_.alive(), 0U);
    server_.leave();
    others_.leave();
  }

  // By a connection that the library knows nothing of.
  std::string read() { return ask({"GET", "k"}).text; }
  void write(const std::string& value) { ask({"SET", "k", value}); }
  resp::Value ask(const std::vector<std::string_view>& request) {
    BlockingConnection one(fibers_, others_loop_, address_of(kServer));
    return one.ask(request);
  }

  std::optional<std::string> load() { return read(); }
  std::string get() {
    return client_->get("k", [this](const std::string&) { return load(); }).value().value_or("");
  }
  // Reads at once, and returns only when `may_return`.
  std::optional<std::string> load_late(const bool& may_return) {
    std::optional<std::string> value = load();
    ++read_late_;
    wait_for([&] { return may_return; });
    return value;
  }
  void wait_for(const std::function<bool()>& holds) {
    while (!holds()) fibers_.pause_for(Millis(1));
  }
  void warm(const std::function<std::optional<std::string>(const std::string&)>& loader) {
    const std::vector<std::string> keys = {"k"};
    EXPECT_TRUE(client_->warm(keys, loader, kCool).empty());
  }
  // What the server tells is heard after the scene.
  void stop_link() {
    for (const auto& link : runtime_.threads("heatsink-link")) link->stop_for(Millis(800));
  }

  Scheduler scheduler_{11};
  Network network_{scheduler_, {}};
  Fibers fibers_{scheduler_, std::chrono::microseconds(1), std::chrono::microseconds(50)};
  FiberRuntime runtime_{fibers_, network_, "library"};
  Node server_{network_, "server"}, others_{network_, "others"};
  net::EventLoop server_loop_{server_.poller()}, others_loop_{others_.poller()};
  ModelServer model_{server_loop_, {}};
  std::optional<client::Client<>> client_;
  int read_late_ = 0;
};

// Whoever sees on the server what is being written must not find the old value here afterwards.
TEST_F(LibrarySafeguards, AWriteEndsTheCopyBeforeItIsSentAndNoneIsKeptUntilItHasEnded) {
  play([this] {
    warm([this](const std::string&) { return load(); });
    wait_for([this] { return client_->peek("k").is_hit(); });
    client_->set("k", "new", [this](const std::string&, const std::string& value) {
      EXPECT_FALSE(client_->peek("k").is_hit());
      EXPECT_EQ(get(), "old");
      EXPECT_FALSE(client_->peek("k").is_hit()) << "a load meanwhile is not kept";
      write(value);
    });
    EXPECT_EQ(get(), "new");
  });
}

// A read of the key while it was cold has shown the new value; the load from before it was cold
// comes back only now.
TEST_F(LibrarySafeguards, AKeyThatIsHotAgainKeepsNoLoadOfAnEarlierTime) {
  play([this] {
    bool may_return = false;
    warm([this](const std::string&) { return load(); });
    wait_for([this] { return client_->peek("k").is_hit(); });
    client_->invalidate("k");
    fibers_.spawn([&] {
      EXPECT_EQ(*client_->get("k", [&](const std::string&) { return load_late(may_return); }),
                "old");
    });
    wait_for([this] { return read_late_ == 1; });
    stop_link();
    write("new");
    wait_for([this] { return !client_->is_hot("k"); });
    EXPECT_EQ(get(), "new");
    warm([this](const std::string&) { return load(); });
    may_return = true;
    fibers_.pause_for(Millis(10));
    EXPECT_EQ(get(), "new");
  });
}

// The key became hot while a cold read of it was under way, and a load of it was then begun.
TEST_F(LibrarySafeguards, WhatAColdReadHasShownIsNotFollowedByAnOlderCopy) {
  play([this] {
    bool may_return = false;
    bool may_read = false;
    std::string shown;
    fibers_.spawn([&] {
      shown = client_
                  ->get("k",
                        [&](const std::string&) {
                          wait_for([&] { return may_read; });
                          return load();
                        })
                  .value()
                  .value_or("");
    });
    fibers_.pause_for(Millis(1));
    warm([&](const std::string&) { return load_late(may_return); });
    wait_for([this] { return read_late_ == 1; });
    stop_link();
    write("new");
    may_read = true;
    wait_for([&] { return !shown.empty(); });
    EXPECT_EQ(shown, "new");
    may_return = true;
    fibers_.pause_for(Millis(10));
    EXPECT_EQ(get(), "new");
  });
}

// No tracker tells how long the value lives. A reader that comes while the load is under way joins
// it, but the value may have ended before that reader came.
TEST_F(LibrarySafeguards, AReaderThatJoinsALoadGetsNoValueFromBeforeItCameUnlessItIsProven) {
  const auto scene = [this] {
    bool may_return = false;
    std::optional<std::string> late;
    ask({"SET", "k", "old", "PX", "50"});
    warm([&](const std::string&) { return load_late(may_return); });
    wait_for([this] { return read_late_ == 1; });
    fibers_.pause_for(Millis(60));
    fibers_.spawn([&] { late = get(); });
    fibers_.pause_for(Millis(1));
    EXPECT_EQ(client_->stats().waits, 1U);
    may_return = true;
    wait_for([&] { return late.has_value(); });
    EXPECT_EQ(*late, "") << "the key has ended";
  };
  play(scene, kNobody);
}

}  // namespace
}  // namespace heatsink::simulation
