// SPDX-License-Identifier: Apache-2.0
// Everything at once: for the thread sanitizer, and for guarantees under any schedule.
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "heatsink/client/client.h"
#include "heatsink/client/source_for_test.h"

namespace heatsink::client {
namespace {

ClientOptions restless() {
  ClientOptions options;
  options.window = Millis(100);
  options.hot_qps = 100;
  options.warm_qps = 10;
  options.tick = Millis(10);
  options.demotion_interval = Nanos(0);
  options.minimum_residence = Nanos(0);
  options.refresh_interval = Millis(10);
  options.expire_after_write = Millis(50);
  options.wait_timeout = kPatience;  // a refused read would have read nothing
  return options;
}

// Each key has one writer, which writes rising numbers. After a write it must read that number,
// whatever the other threads do.
TEST(ClientStress, AWriterReadsWhatItWroteWhateverOthersDo) {
  Source source;
  const Client<> client(restless());
  std::atomic<bool> over{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  const auto number = [&](const std::string& key) {
    try {
      return std::stoi(client.get(key, source.loader()).value().value_or("0"));
    } catch (const LoadRefused&) {
      return -1;
    }
  };
  for (int i = 0; i < 2; ++i) {
    const std::string key = "key" + std::to_string(i);
    threads.emplace_back([&, key] {
      for (int n = 1; !over; ++n) {
        client.set(key, std::to_string(n), [&](const std::string& name, const std::string& value) {
          source.write(name, value);
        });
        for (int reads = 0; reads < 50; ++reads)
          if (number(key) != n) ++wrong;
      }
    });
  }
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!over) {
        number("key0");
        number("key1");
        static_cast<void>(client.peek("key0"));
        client.top(3);
      }
    });
  }
  for (int i = 0; i < 300; ++i) {
    client.invalidate("key0");
    client.stats();
    const std::vector<std::string> keys = {"key1"};
    client.warm(keys, source.loader(), Millis(1));
    source.read("key1");  // takes some time
    std::this_thread::yield();
  }
  EXPECT_TRUE(eventually([&] { return client.stats().promotions > 0; }));
  over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(ClientStress, IsDestroyedWhileOthersRead) {
  Source source;
  source.write("a", "1");
  for (int round = 0; round < 20; ++round) {
    std::optional<Client<>> client(std::in_place, restless());
    const std::vector<std::string> keys = {"a"};
    client->warm(keys, source.loader());
    std::vector<std::thread> readers;
    std::atomic<int> wrong{0};
    for (int i = 0; i < 3; ++i) {
      readers.emplace_back([&, mine = *client] {
        for (int n = 0; n < 2000; ++n) {
          const auto local = mine.get("a", source.loader());
          if (!local || *local != "1") ++wrong;
        }
      });
    }
    client->close();
    client.reset();
    for (std::thread& reader : readers) reader.join();
    EXPECT_EQ(wrong.load(), 0);
  }
}

}  // namespace
}  // namespace heatsink::client
