// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/verbs.h"

#include <vector>

namespace heatsink::app {

std::span<const Verb> verbs() {
  static const std::vector<Verb> rows = {
      {"alert", "Sends a test alert to the webhook and the command of a configuration.", run_alert},
      {"completion", "Prints the completion of bash, zsh or fish for this program.",
       run_completion},
      {"config", "Prints, checks and applies configurations, or prints the list of metrics.",
       run_config},
      {"doctor", "Checks a server and this machine: what is wrong, what it costs, how to mend it.",
       run_doctor},
      {"drop", "Drops the local copies of a key from a running proxy.", run_drop},
      {"explain", "Shows what is known of one key, and what would take load off it.", run_explain},
      {"health", "Asks a running proxy whether it is fine, for probes: the exit code says so.",
       run_health},
      {"history", "Tells what was hot in a time, from the file that a proxy keeps.", run_history},
      {"load", "Generates a skewed load: Zipf reads and some writes of the same keys.", run_load},
      {"man", "Prints a manual page, or the list of them.", run_man},
      {"proxy",
       "Runs the proxy: finds the hot keys of a server and serves them from coherent copies.",
       run_proxy},
      {"replay",
       "Replays a trace: which keys were hot, what caching would have saved, what to set.",
       run_replay},
      {"rule", "Adds, removes, tries and lists the rules of a running proxy.", run_rule},
      {"stats", "Shows window statistics: what all processes added in the last minute.", run_stats},
      {"top", "Shows the hot keys of a running proxy, or of any server, live.", run_top},
      {"warm", "Keeps keys hot and loaded in a running proxy for some time.", run_warm},
      {"watch", "Shows many proxies and libraries as one: a page and an API of their sum.",
       run_watch},
  };
  return rows;
}

}  // namespace heatsink::app
