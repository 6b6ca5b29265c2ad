// SPDX-License-Identifier: Apache-2.0
// Holds the results of `heatsink replay` as one plain value, from which text, JSON and HTML are
// made.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "heatsink/replay/replay.h"

namespace heatsink::app {

struct ReplayReport {
  std::string source;  // the file's name as given, "-" for standard input
  replay::Trace trace;
  replay::Timing timing;
  replay::TraceFacts facts;
  replay::CopyRules rules;
  std::vector<replay::EarnedSaving> earned;  // by capacity, as given
  replay::Budget budget;
  // Copies of hot keys only, if they were asked for; else empty.
  replay::SavingsGrid grid;
  std::vector<replay::Saving> savings;  // by window, then threshold, then capacity
  replay::Recommendation recommendation;
  bool has_thresholds() const { return !savings.empty(); }
  replay::AccuracyOptions judged;  // the options of `accuracy`
  // nothing for a recording, which has no single accesses
  std::optional<replay::Accuracy> accuracy;

  const replay::Saving& saving(std::size_t window, std::size_t threshold,
                               std::size_t capacity) const {
    return savings[(window * grid.hot_qps.size() + threshold) * grid.capacities.size() + capacity];
  }
  // The index of the recommended setting in the grid.
  std::size_t chosen_window() const;
  std::size_t chosen_capacity() const;
};

// "300 copies", "16mb": the limit that the grid varies.
std::string capacity_text(const replay::Capacity& capacity);

// Whether the trace has the size of any value: without sizes, shares of bytes mean nothing.
bool knows_bytes(const ReplayReport& report);
// "memory", or a title that says that it is an estimate.
std::string memory_title(const ReplayReport& report);

// Why caching is not recommended; "" if it is.
std::string no_caching_sentence(const ReplayReport& report);

// "auto", or the number of --hot-qps or of the recommended threshold.
std::string judged_text(const ReplayReport& report);

// Why the detector missed keys, with the figures; empty if it missed none.
std::string missed_sentence(const ReplayReport& report);

// Assumptions and unknowns, a sentence each; all outputs contain them.
std::vector<std::string> caveats(const ReplayReport& report);

// For a terminal of 80 columns.
std::string report_text(const ReplayReport& report);
// One object; docs/guides/replay.md names its members.
std::string report_json(const ReplayReport& report);
// One self-contained page: no script, no other file.
std::string report_html(const ReplayReport& report);
// A configuration for `heatsink proxy --config`, with the reasons as comments.
std::string report_config(const ReplayReport& report);

}  // namespace heatsink::app
