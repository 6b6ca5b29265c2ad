// SPDX-License-Identifier: Apache-2.0
// A step of the comparison between the model server and a real one: requests of one client.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace heatsink::simulation {

// The words of a request. "@2" stands for the ID of the third client's connection.
using ModelRequest = std::vector<std::string>;

struct ModelStep {
  enum class Then {
    kNothing,
    kSleep,        // until what lives for kShortMs has ended
    kExpireCycle,  // and until the server has deleted it by itself
  };
  static constexpr int kShortMs = 1;
  static constexpr std::size_t kClients = 4;

  std::size_t client = 0;
  std::vector<ModelRequest> requests;  // sent at once
  Then then = Then::kNothing;
};

std::string to_text(const ModelStep& step);

}  // namespace heatsink::simulation
