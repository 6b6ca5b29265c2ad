// SPDX-License-Identifier: Apache-2.0
// Defines who else gets what the keeper notes: a history that survives the process.
#pragma once

#include <functional>

#include "heatsink/heat/moment.h"
#include "heatsink/report/event.h"

namespace heatsink::copies {

// Both may be empty. Called in threads of the proxy, mostly the keeper's: they must not wait.
struct Recording {
  std::function<void(const heat::Moment&)> moment;
  std::function<void(const report::Event&)> event;
};

}  // namespace heatsink::copies
