// SPDX-License-Identifier: Apache-2.0
// What a process has learned for the choice of what gets a copy, to be passed to the next one.
#pragma once

#include <optional>

#include "heatsink/admit/admit.h"

namespace heatsink::copies {

// Without it a process needs seconds to minutes to learn the same again.
struct Learned {
  // How many times the built-in prices were taken; nothing: they have not been measured.
  std::optional<double> server_scale{}, keeper_scale{}, worker_scale{};
  // Of admit::TrafficShape.
  double at_once = 1, awaited = 1;
  std::optional<admit::Choice> choice{};  // nothing: none has been made yet
};

}  // namespace heatsink::copies
