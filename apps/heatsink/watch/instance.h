// SPDX-License-Identifier: Apache-2.0
// Holds what is known now of one process that `heatsink watch` asks.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "apps/heatsink/top/view.h"
#include "heatsink/base/clock.h"
#include "heatsink/heat/heat.h"
#include "heatsink/net/net.h"

namespace heatsink::app {

// A plain value. Its answers are hostile; parse_hotkeys() and parse_moment() have checked them.
struct Instance {
  std::string name;         // "10.0.0.5:6390", as in --of
  net::HostPort address{};  // numeric; empty: the name is not found
  TimePoint since{};        // when it began to answer, or ceased to
  std::string problem{};    // why nothing is known of it now; "": it answers
  // Its answer of /api/hotkeys. REQUIRES one if it answers.
  std::shared_ptr<const HotkeysView> view{};
  // Its answer of /api/counts. Nothing: it has none, as a library, or an older proxy.
  std::optional<heat::Moment> counts{};

  bool answers() const { return problem.empty(); }
};

}  // namespace heatsink::app
