// SPDX-License-Identifier: Apache-2.0
// heatsink top while it runs: polls, draws, listens to keys and signals, on one thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "apps/heatsink/top/answers.h"
#include "apps/heatsink/top/csv.h"
#include "apps/heatsink/top/rows.h"
#include "heatsink/base/clock.h"
#include "heatsink/net/address.h"
#include "heatsink/tui/terminal.h"

namespace heatsink::app {

struct TopOptions {
  net::HostPort admin{"127.0.0.1", 6390};
  std::string token;                     // that the admin API asks for; "": none
  std::optional<ObservedServer> server;  // it is asked itself, and `admin` is not
  Nanos interval = std::chrono::seconds(1);
  Nanos run_for{0};   // 0: until it is ended
  bool once = false;  // one answer, as text
  bool json = false;  // the answers, one per line, with the keys that `rows` chooses
  bool csv = false;   // a header, then the rows of each answer (top_csv.h)
  CsvText csv_text = CsvText::kAsItIs;
  RowChoices rows{};  // what to begin with
  tui::Colors colors = tui::Colors::kIfWanted;
  std::string record_file;  // "": none; also keeps the answers there (top_recording.h)
};

// Until q, SIGINT, SIGTERM, SIGHUP, SIGQUIT or `run_for`. Draws on the terminal when standard input
// and output are one, otherwise prints a frame per interval without escape codes. Returns kFailed
// when no answer came at all or what was watched ended before its time (not if a person ended it),
// or with `once` when the first poll failed.
int run_top_session(const TopOptions& options);

}  // namespace heatsink::app
