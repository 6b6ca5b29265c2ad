// SPDX-License-Identifier: Apache-2.0
// heatsink replay without its command line: reads, plays, reports.
#pragma once

#include <string>
#include <vector>

#include "apps/heatsink/replay/report.h"

namespace heatsink::app {

struct ReplayOptions {
  std::string trace;  // "-": standard input
  replay::ReadOptions reading;
  // What of these is empty is chosen for the trace.
  replay::SavingsGrid grid;
  replay::CopyRules rules;
  double hot_qps = 0;  // to judge the detector by; 0: the recommended one
  unsigned threads = 2;
  bool json = false;        // on standard output, in place of the text
  std::string html_file;    // "": none
  std::string config_file;  // "": none
  bool overwrite = false;   // files that are there already
};

// The whole of it but for the output. Draws its progress.
Result<ReplayReport> replay_report(const ReplayOptions& options);

// Returns the exit code; what went wrong is told on standard error.
int run_replay_session(const ReplayOptions& options);

}  // namespace heatsink::app
