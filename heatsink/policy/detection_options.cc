// SPDX-License-Identifier: Apache-2.0
#include "heatsink/policy/detection_options.h"

#include <chrono>
#include <string_view>

#include "heatsink/detect/rules.h"
#include "heatsink/policy/option_bounds.h"

namespace heatsink::policy {
namespace {

constexpr std::string_view kInsteadOfSlots = "a window slides in ten steps.";
constexpr std::string_view kInsteadOfIntervals = "each key is promoted and demoted as it is due.";
constexpr std::string_view kInsteadOfFleetSize =
    "fleet.enabled counts what each proxy really sees (docs/guides/fleet.md).";

}  // namespace

// NOLINTNEXTLINE(readability-function-size): a table, a row per option
void DetectionOptions::describe(OptionSet& set) {
  using std::chrono::milliseconds;
  using std::chrono::minutes;
  using std::chrono::seconds;

  set.add(at_start(
      {"detection.enabled", &detection_enabled,
       "Whether accesses are counted and hot keys are found. If false, nothing is cached."}));
  set.add({"detection.window", &window,
           "Length of the sliding window in which accesses are counted.", kWindowMin, kWindowMax});
  set.add(deprecated(kInsteadOfSlots, {"detection.slots", &slots,
                                       "Number of steps in which the window slides.", 1, 10}));
  set.add({.name = "detection.dimension",
           .target = choice_of(dimension),
           .help = "What is counted. requests counts accesses; bytes, the bytes of values; "
                   "writes, the accesses that may change the key; "
                   "misses, the reads that the server answered.",
           .choices = {"requests", "bytes", "writes", "misses"}});
  set.add({.name = "detection.hot-qps",
           .target = &hot_qps,
           .help = "A key is hot from this many accesses (writes, misses) per second, "
                   "averaged over the window. "
                   "auto means 1 % of the proxy's traffic, but at least 100 per second.",
           .min = kRateMin,
           .max = kRateMax,
           .unset = kAuto});
  set.add({.name = "detection.warm-qps",
           .target = &warm_qps,
           .help = "A key is warm from this many per second: it is listed. "
                   "It is limited to hot-qps. auto means a quarter of hot-qps.",
           .min = 0,
           .max = kRateMax,
           .unset = kAuto});
  set.add(
      {"detection.hot-bytes", &hot_bytes,
       "With dimension bytes, instead of hot-qps: a key is hot from this many bytes per second.",
       kByteRateMin, kByteRateMax});
  set.add({"detection.warm-bytes", &warm_bytes,
           "With dimension bytes, instead of warm-qps. It is limited to hot-bytes.", 0,
           kByteRateMax});
  set.add(deprecated(kInsteadOfShare, {"detection.hot-share", &hot_share,
                                       "A warm key is also hot "
                                       "from this share of the proxy's traffic. "
                                       "0%: the share does not count.",
                                       0, 1}));
  set.add({"detection.top-n", &top_n, "Maximum number of hot keys.", 1, 4096});
  set.add(deprecated(
      detect::kInsteadOfConfirming,
      {"detection.confirm-windows", &confirm_windows,
       "Consecutive windows above the threshold before a key becomes hot. 1: no wait.", 1, 100}));
  set.add({"detection.demote-ratio", &demote_ratio,
           "A hot key stays hot until its rate falls below this times its threshold.", 0, 1});
  set.add({"detection.write-hot-ratio", &write_hot_ratio,
           "A hot key with fewer reads per write than this is write-hot: "
           "a copy would cost more than it saves.",
           0, 1e6});
  set.add({"detection.minimum-residence", &minimum_residence, "Minimum time that a key stays hot.",
           0, kResidenceMax});
  set.add(deprecated(
      kInsteadOfIntervals,
      {"detection.promotion-interval", &promotion_interval,
       "Minimum time between promotions; all due keys are promoted together. 0: each at once.", 0,
       bound(minutes(10))}));
  set.add(deprecated(
      kInsteadOfIntervals,
      {"detection.demotion-interval", &demotion_interval,
       "Minimum time between demotions; all due keys are demoted together. 0: each at once. "
       "A key that becomes write-hot is always demoted at once.",
       0, bound(minutes(10))}));
  set.add({"detection.burst", &burst,
           "A burst of this share of hot-qps times window makes a key hot at once. 0%: never. "
           "Without a burst, a key becomes hot when the window proves its rate. "
           "Bursts do not count where confirm-windows is above 1, "
           "nor where the share is less than 10 accesses.",
           0, 1});
  set.add({"detection.memory", &detection_memory, "Memory for the access counters of all workers.",
           bound(kibibytes(256)), bound(mebibytes(1024))});
  set.add({"detection.tick", &tick,
           "How often the window is evaluated. A key whose rate rises fast is evaluated at once.",
           bound(milliseconds(10)), bound(seconds(5))});

  set.add(
      deprecated(kInsteadOfFleetSize, {"detection.fleet-size", &fleet_size,
                                       "Number of proxies that share the traffic evenly. "
                                       "Each one compares with a threshold (hot-qps, warm-qps, "
                                       "hot-bytes, warm-bytes) divided by it, "
                                       "so thresholds are those of the fleet. "
                                       "With fleet.enabled it holds only until the fleet is known.",
                                       1, 100'000}));
}

}  // namespace heatsink::policy
