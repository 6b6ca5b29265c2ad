// SPDX-License-Identifier: Apache-2.0
// Provides a set of options to the tests of options.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "heatsink/base/option.h"
#include "heatsink/base/units.h"

namespace heatsink {

// An OptionSet with one row of each type, and their targets.
struct OneRowOfEachType {
  bool enabled = true;
  std::int64_t workers = 2;
  double ratio = 0.8;
  std::string level = "key";
  std::string listen = "127.0.0.1:6380";
  Nanos window = std::chrono::seconds(10);
  Bytes size = mebibytes(64);
  OptionSet set;

  OneRowOfEachType() {
    const auto nanos = [](Nanos n) { return static_cast<double>(n.count()); };
    set.add({"cache.enabled", &enabled, "Whether to cache.", 0, 0, {}});
    set.add({"workers", &workers, "Event loops.", 1, 256, {}});
    set.add({"detection.ratio", &ratio, "Hysteresis.", 0, 1, {}});
    set.add({"cache.level", &level, "Coherence.", 0, 0, {"off", "ttl", "key"}});
    set.add({"listen", &listen, "Address.", 0, 0, {}});
    set.add({"detection.window",
             &window,
             "Length of the window.",
             nanos(std::chrono::seconds(1)),
             nanos(std::chrono::hours(1)),
             {}});
    set.add({"cache.size", &size, "Bytes of copies.", 1024, 1024.0 * 1024 * 1024, {}});
  }
};

}  // namespace heatsink
