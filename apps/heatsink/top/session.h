// SPDX-License-Identifier: Apache-2.0
// Runs heatsink top: polls, draws, and handles keys and signals, on one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "apps/heatsink/top/answers.h"
#include "apps/heatsink/top/csv.h"
#include "apps/heatsink/top/rows.h"
#include "heatsink/base/clock.h"
#include "heatsink/base/wall_time.h"
#include "heatsink/net/address.h"
#include "heatsink/tui/terminal.h"

namespace heatsink::app {

struct TopOptions {
  net::HostPort admin{"127.0.0.1", 6390};
  std::string token;                     // for the admin API; "": none
  std::optional<ObservedServer> server;  // observe this server instead of asking `admin`
  Nanos interval = std::chrono::seconds(1);
  Nanos run_for{0};            // 0: until the user ends it
  std::optional<WallTime> at;  // begin with this moment of the proxy's history
  bool once = false;           // one answer, as text
  bool json = false;           // the answers, one per line, with the keys that `rows` chooses
  bool csv = false;            // a header, then the rows of each answer (csv.h)
  CsvText csv_text = CsvText::kAsItIs;
  RowChoices rows{};  // the initial choices
  tui::Colors colors = tui::Colors::kIfWanted;
  std::string record_file;  // also records the answers there (recording.h); "": none
};

// Ends at q, SIGINT, SIGTERM, SIGQUIT, the loss of its terminal, or after `run_for`. Draws if
// standard input and output are a terminal; otherwise prints a frame per interval without escape
// codes. Returns kFailed if no answer came at all, or the observation ended early (not if the user
// ended it), or with `once` if the first poll failed.
int run_top_session(const TopOptions& options);

}  // namespace heatsink::app
