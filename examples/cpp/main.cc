// SPDX-License-Identifier: Apache-2.0
// catalogue HOST PORT: a shop that reads one product many times.
#include <heatsink/client.h>

#include <array>
#include <iostream>
#include <optional>
#include <stdexcept>
#include <string>

#include "../redis_get.h"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::cerr << "usage: catalogue HOST PORT\n";
    return 2;
  }
  const std::string host = argv[1];
  const std::string port = argv[2];

  // Lower thresholds than in a service: this program is the only reader.
  const auto options = heatsink::ClientOptions::from_yaml("detection: {hot-qps: 100}");
  if (!options.ok()) {
    std::cerr << options.error().message << '\n';
    return 2;
  }
  const heatsink::Client client(*options);

  // Loads a value. Any thread calls it, the client's own threads, too; it may throw.
  const auto load = [&](const std::string& key) -> std::optional<std::string> {
    std::array<char, 4096> buffer;
    const long size =
        redis_get(host.c_str(), port.c_str(), key.data(), key.size(), buffer.data(), buffer.size());
    if (size == -2) throw std::runtime_error("the server does not answer");
    if (size == -1) return std::nullopt;
    return std::string(buffer.data(), static_cast<std::size_t>(size));
  };

  try {
    while (!client.is_hot("product:1")) static_cast<void>(client.get("product:1", load));
    int hits = 0;
    for (int i = 0; i < 1000; ++i) {
      const auto price = client.get("product:1", load);
      if (price.is_hit()) ++hits;
    }
    const auto price = client.get("product:1", load);
    std::cout << "product:1 costs " << (price ? *price : "nothing") << "\n"
              << hits << " of 1000 reads did not reach the server\n";
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
  client.close();  // from here on the client does not use `load`, host and port
  return 0;
}
