// SPDX-License-Identifier: Apache-2.0
// For tests: a client and its source.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "heatsink/client/client.h"
#include "heatsink/client/source_for_test.h"

namespace heatsink::client {

// Options for copies of hot keys only.
inline ClientOptions only_hot() {
  ClientOptions options;
  options.admission = "hot";
  return options;
}

// The same without refreshes; warm_up() makes keys hot.
inline ClientOptions quiet() {
  ClientOptions options = only_hot();
  options.refresh_enabled = false;
  return options;
}

// Options where ten reads per second make a key hot.
inline ClientOptions eager() {
  ClientOptions options = quiet();
  options.window = std::chrono::seconds(1);
  options.hot_qps = 10;
  options.warm_qps = 5;
  options.tick = Millis(10);
  options.demotion_interval = Nanos(0);
  return options;
}

// Loaders and callbacks run on the client's threads until its end: declare what they refer to
// before it.
struct Stage {
  explicit Stage(const ClientOptions& options = quiet()) : client(options) {}

  std::string get(const std::string& key) {
    return client.get(key, source.loader()).value().value_or("(nil)");
  }
  void warm_up(const std::string& key) {
    const std::vector<std::string> keys = {key};
    ASSERT_THAT(client.warm(keys, source.loader()), ::testing::IsEmpty());
    source.reads = 0;
  }
  // Reads the key until detection has made it hot.
  bool get_hot(const std::string& key) {
    return eventually([&] {
      get(key);
      return client.is_hot(key);
    });
  }

  Source source;
  Client<> client;
};

}  // namespace heatsink::client
