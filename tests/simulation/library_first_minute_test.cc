// SPDX-License-Identifier: Apache-2.0
// What the library's default options save a process that reads seldom, in virtual time.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <optional>
#include <string>

#include "heatsink/base/random.h"
#include "heatsink/base/zipf.h"
#include "heatsink/client/client.h"
#include "tests/simulation/fibers.h"
#include "tests/simulation/model_server.h"

namespace heatsink::simulation {
namespace {

constexpr std::uint16_t kModel = 6379;
constexpr Nanos kLoad = Millis(5);
constexpr int kPerSecond = 50;
constexpr std::uint64_t kNames = 1000;  // read with a Zipf distribution

// A process that reads 50 times per second in all, for some minutes.
class LibraryFirstMinute : public testing::Test {
 protected:
  LibraryFirstMinute() {
    server_.run(server_loop_);
    network_.listen(kModel, server_, [this](net::Stream stream, const std::string&) {
      model_.accept(std::move(stream));
    });
  }

  // The share of hits in each 10 s; `rank` draws the number of the key.
  template <std::size_t kTens>
  std::array<double, kTens> hit_ratios(const client::ClientOptions& options,
                                       const std::function<std::uint64_t()>& rank) {
    std::array<double, kTens> ratios{};
    client::Client<> client(options, runtime_);
    fibers_.spawn([&] {
      const auto load = [&](const std::string& key) {
        fibers_.pause_for(kLoad);
        return std::optional<std::string>(key);
      };
      fibers_.pause_for(Millis(50));  // it connects meanwhile
      for (double& ratio : ratios) {
        int hits = 0;
        for (int i = 0; i < 10 * kPerSecond; ++i) {
          const TimePoint next = scheduler_.now() + Nanos(std::chrono::seconds(1)) / kPerSecond;
          hits += client.get("key:" + std::to_string(rank()), load).is_hit() ? 1 : 0;
          fibers_.pause_until(next);
        }
        ratio = hits / (10.0 * kPerSecond);
      }
      last_ = client.stats();
      client.close();
    });
    scheduler_.run_until(scheduler_.now() + std::chrono::seconds(11 * kTens));
    EXPECT_EQ(fibers_.alive(), 0U);
    server_.leave();
    return ratios;
  }

  client::ClientOptions with_server() {
    client::ClientOptions options;
    options.server_url = "redis://127.0.0.1:" + std::to_string(kModel);
    return options;
  }
  std::uint64_t zipf() { return zipf_.rank(random_); }

  Scheduler scheduler_{1};
  Network network_{scheduler_, {}};
  Fibers fibers_{scheduler_, std::chrono::microseconds(5), std::chrono::microseconds(50)};
  Node server_{network_, "server"};
  net::EventLoop server_loop_{server_.poller()};
  ModelServer model_{server_loop_, {}};
  FiberRuntime runtime_{fibers_, network_, "library"};
  Random random_{1};
  const Zipf zipf_{kNames, 0.99};
  client::Stats last_;
};

TEST_F(LibraryFirstMinute, HitsBeginAtOnceWhereACopyCostsNothing) {
  const auto ratios = hit_ratios<6>({}, [&] { return zipf(); });
  EXPECT_GT(ratios.front(), 0.5);
  EXPECT_GT(ratios.back(), 0.85);
  EXPECT_EQ(last_.hot_keys, 0U);
  EXPECT_LT(last_.copies_bytes, 100'000U);
}

TEST_F(LibraryFirstMinute, HitsBeginSoonWithAServer) {
  const auto ratios = hit_ratios<6>(with_server(), [&] { return zipf(); });
  EXPECT_GT(ratios.front(), 0.25);
  EXPECT_GT(ratios.back(), 0.7);
}

TEST_F(LibraryFirstMinute, WhatIsNeverReadAgainIsKeptNoLonger) {
  std::uint64_t last = 0;
  hit_ratios<60>({}, [&] { return ++last; });
  EXPECT_EQ(last_.copies, 0U);
}

}  // namespace
}  // namespace heatsink::simulation
