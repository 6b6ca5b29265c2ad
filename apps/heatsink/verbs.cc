// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/verbs.h"

#include <vector>

namespace heatsink::app {

std::span<const Verb> verbs() {
  static const std::vector<Verb> rows = {
      {"config", "Prints the effective configuration or all metrics, or checks a file.",
       run_config},
      {"explain", "Says what is known of one hot key, and what would take load off it.",
       run_explain},
      {"load", "Makes a skewed load: Zipf reads and some writes to the same keys.", run_load},
      {"proxy",
       "Stands in front of a server, finds its hot keys and serves them from coherent copies.",
       run_proxy},
      {"replay", "Plays a trace again: what was hot, what caching would have saved, what to set.",
       run_replay},
      {"stats", "Shows window statistics: what all processes have added over the last so long.",
       run_stats},
      {"top", "Shows the hot keys of a running proxy, or of any server, live.", run_top},
      {"warm", "Has a running proxy keep keys hot and loaded for a time.", run_warm},
  };
  return rows;
}

}  // namespace heatsink::app
