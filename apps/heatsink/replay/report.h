// SPDX-License-Identifier: Apache-2.0
// All that `heatsink replay` found out, as one plain value; text, JSON and HTML are made of it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heatsink/replay/replay.h"

namespace heatsink::app {

struct ReplayReport {
  std::string source;  // the file's name as it was given, "-" for standard input
  replay::Trace trace;
  replay::Timing timing;
  replay::TraceFacts facts;
  replay::CopyRules rules;
  replay::SavingsGrid grid;
  std::vector<replay::Saving> savings;  // by window, then threshold, then capacity
  replay::Recommendation recommendation;
  replay::AccuracyOptions judged;            // what `accuracy` was measured with
  std::optional<replay::Accuracy> accuracy;  // none of a recording: it knows no single access

  const replay::Saving& saving(std::size_t window, std::size_t threshold,
                               std::size_t capacity) const {
    return savings[(window * grid.hot_qps.size() + threshold) * grid.capacities.size() + capacity];
  }
  // The place of the recommended setting in the grid.
  std::size_t chosen_window() const;
  std::size_t chosen_capacity() const;
};

// "300 copies", "16mb": what of the capacity the grid varies.
std::string capacity_text(const replay::Capacity& capacity);

// Whether the trace tells the size of any value: else shares of bytes say nothing.
bool knows_bytes(const ReplayReport& report);
// "memory", or that it is an estimate.
std::string memory_title(const ReplayReport& report);

// What there is to say instead of a recommendation to cache; "" if there is one.
std::string no_caching_sentence(const ReplayReport& report);

// Why the detector missed what it missed, with the figures; empty when it missed nothing.
std::string missed_sentence(const ReplayReport& report);

// What was assumed or could not be known, a sentence each; every output tells them.
std::vector<std::string> caveats(const ReplayReport& report);

// For a terminal of 80 columns.
std::string report_text(const ReplayReport& report);
// One object; docs/guides/replay.md names its members.
std::string report_json(const ReplayReport& report);
// One page that needs nothing else: no script, no outside file.
std::string report_html(const ReplayReport& report);
// A configuration for `heatsink proxy --config`, with the reasons as comments.
std::string report_config(const ReplayReport& report);

}  // namespace heatsink::app
