// SPDX-License-Identifier: Apache-2.0
// An application as small as one can be: it sees what is installed and nothing else.
#include <heatsink/client.h>

#include <atomic>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

int main() {
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
