// SPDX-License-Identifier: Apache-2.0
// Plays the same steps to the model server, in simulation, and to a real server, and finds where
// their bytes differ.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/resp/testing/redis_process.h"
#include "tests/simulation/model_flavor.h"
#include "tests/simulation/model_step.h"

namespace heatsink::simulation {

struct ModelDifference {
  std::size_t step;
  std::string text;
};

class ModelSide;
class RealSide;

// One real server for many plays.
class ModelPlay {
 public:
  // Two TTLs of one play that are longer than kShortMs differ by more than this, which is more than
  // a play takes: the model's time stands still meanwhile.
  static constexpr int kToleranceSeconds = 400;

  // REQUIRES that it runs.
  explicit ModelPlay(const resp::testing::RedisProcess& server);
  ~ModelPlay() = default;

  // None: a version of which the model knows nothing.
  const std::optional<ModelFlavor>& flavor() const { return flavor_; }

  // From empty servers and new connections on.
  std::optional<ModelDifference> play(const std::vector<ModelStep>& steps);
  // The fewest of these steps that still differ, as far as 60 s of plays find them.
  std::vector<ModelStep> shrunk(std::vector<ModelStep> steps);

  // Both replies to COMMAND, of the model and of the server.
  std::pair<std::string, std::string> ask_both(const ModelRequest& request);

 private:
  std::string step_difference(ModelSide& model, RealSide& real, const ModelStep& step);
  std::string cycle_difference(ModelSide& model, RealSide& real);

  const resp::testing::RedisProcess& server_;
  std::optional<ModelFlavor> flavor_;
  int patience_ms_;
};

}  // namespace heatsink::simulation
