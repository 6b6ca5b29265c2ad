// SPDX-License-Identifier: Apache-2.0
// An application as small as one can be: it sees what is installed and nothing else.
#include <heatsink/client.h>
#include <heatsink/limits.h>
#include <heatsink/spread.h>

#include <atomic>
#include <chrono>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

// The second needs a server; what cannot be is said without one.
bool has_limits() {
  const auto limiter = heatsink::make_limiter({.rate = {10, std::chrono::seconds(1)}, .burst = 1});
  const heatsink::TimePoint now = heatsink::BootClock::now();
  if (!limiter || !(*limiter)->try_acquire(1, now).allowed) return false;
  heatsink::RateLimiterOptions options;
  options.lease_share = 2;
  return !heatsink::Server::open({.url = "http://10.0.0.5"}) &&
         !heatsink::RateLimiter::make(nullptr, options) &&
         !heatsink::SpreadKeys::make(nullptr, {.copies = 1}) &&
         !heatsink::SplitCounter::make(nullptr, "views", {.parts = 65});
}

int main() {
  if (!has_limits()) return 1;
  const auto options = heatsink::ClientOptions::from_yaml("cache: {expire-after-write: 30s}");
  if (!options) {
    std::cerr << options.error().message << '\n';
    return 1;
  }
  const heatsink::Client client(*options);
  std::atomic<int> loads{0};
  const auto load = [&](const std::string& key) -> std::optional<std::string> {
    ++loads;
    return "the value of " + key;
  };
  const std::vector<std::string> keys = {"product:1"};
  if (!client.warm(keys, load).empty()) return 1;
  // The load is under way in the background; whoever comes first waits for it or makes it.
  const heatsink::Local<std::string> value = client.get("product:1", load);
  std::cout << *value << ", " << client.stats().hot_keys << " hot\n";
  client.close();
  return loads > 0 ? 0 : 1;
}
