// SPDX-License-Identifier: Apache-2.0
// Runs heatsink replay without its command line: reads, replays, reports.
#pragma once

#include <string>
#include <vector>

#include "apps/heatsink/replay/report.h"

namespace heatsink::app {

struct ReplayOptions {
  std::string trace;  // "-": standard input
  replay::ReadOptions reading;
  bool tries_thresholds = false;  // also tries copies of hot keys only
  // Empty parts are chosen for the trace.
  replay::SavingsGrid grid;
  replay::CopyRules rules;
  double hot_qps = 0;  // for the accuracy; 0: the recommended threshold, or the automatic one
  unsigned threads = 2;
  bool json = false;        // on standard output, instead of the text
  std::string html_file;    // "": none
  std::string config_file;  // "": none
  bool overwrite = false;   // replaces existing files
};

// Everything except the output. Draws its progress.
Result<ReplayReport> replay_report(const ReplayOptions& options);

// Returns the exit code; errors go to standard error.
int run_replay_session(const ReplayOptions& options);

}  // namespace heatsink::app
