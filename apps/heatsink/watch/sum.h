// SPDX-License-Identifier: Apache-2.0
// Adds up what several processes count, with bounds: a key that one of them does not name has at
// most so many requests there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/heatsink/watch/instance.h"
#include "heatsink/base/clock.h"
#include "heatsink/detect/detect.h"
#include "heatsink/heat/heat.h"
#include "heatsink/report/report.h"

namespace heatsink::app {

// The counts of one instance, as rates times kCountedOver, so that instances with windows of
// different lengths can be added.
inline constexpr Nanos kCountedOver = std::chrono::seconds(1000);

// The hash of a key in all summaries of one process. `seed` is drawn at random, so that no instance
// can make two names meet.
KeyHash hash_of(std::string_view name, bool is_cut, std::uint32_t db, std::uint64_t seed);

// Whether its counts have upper bounds. Those of a watch have none while an instance of it is
// silent. Without /api/counts its requests are the bound.
bool has_bounds(const Instance& instance);

// What an instance counts. A key that it does not name has at most absent_max; where the instance
// gives no such bound, that is all of its requests. REQUIRES that it answers.
detect::Summary summary_of(const Instance& instance, std::uint64_t seed);

// All instances at one moment. An immutable value that any thread reads.
struct Picture {
  TimePoint at{};
  std::uint64_t seed = 0;
  std::vector<Instance> instances;
  // By instance; nothing: it does not answer.
  std::vector<std::optional<detect::Summary>> summaries;
  // The sums. While an instance does not answer, or has no bounds itself, no upper bound is known:
  // rate_high is infinite, which JSON shows as null.
  report::Report report;
  heat::Moment moment;

  std::size_t silent() const;  // instances that do not answer
  bool has_bounds() const;     // all answer, with bounds
};

// `started`: of the watch. Pure. O(keys of all instances).
Picture picture_of(std::vector<Instance> instances, TimePoint started, TimePoint now,
                   std::uint64_t seed);

// "b:6390 does not answer (timed out)", and how many more do not; "": all answer.
std::string silence_of(const std::vector<Instance>& instances);

}  // namespace heatsink::app
