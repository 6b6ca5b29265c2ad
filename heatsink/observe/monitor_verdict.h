// SPDX-License-Identifier: Apache-2.0
// Decides whether the windows of MONITOR prove that a key is hot, or that none is.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "heatsink/observe/rate_bounds.h"
#include "heatsink/report/node_report.h"

namespace heatsink::observe {

// The server's own count, in commands per second; nothing: it does not tell.
struct ServerCount {
  std::optional<double> executed{};  // while it is watched
  std::optional<double> lifetime{};  // since its start, if that is long enough ago
  std::optional<double> ever{};      // commands since its start, not per second
};

// The windows are a tenth of the time at most, so all of them may fall into the pauses of bursty
// traffic. The server's own count of commands (INFO stats) has no pauses. Commands that it counted,
// and that the windows do not prove to be other keys' steady traffic, may all belong to one key:
// unseen_rate = executed - lower bound of the commands in the windows.
//
// Sets `unseen_rate`, and raises `absent_max` by it. Without `executed` both become unknown.
// `lines`: the commands of each window.
void bound_by_executed(std::span<const WindowCount> lines, double watched_seconds,
                       std::optional<double> executed, report::Report& report);

// The highest rate that a listed key may have.
double at_most(const report::KeyReport& key, const report::Report& report);

// The sentence for Report::undecided; "": the busiest key is proven hot, or no key can be hot.
std::string what_is_undecided(std::span<const WindowCount> lines, double watched_seconds,
                              const ServerCount& count, const report::Report& report);

// Whether all that was watched may lie in a pause of the traffic: then no key is proven not hot.
bool may_be_pause(double watched_seconds, const ServerCount& count, const report::Report& report);

// A pause of the traffic is not mistaken for a server that has none.
inline constexpr double kWatchedSecondsMin = 10;
// Where the server's whole life shows that this traffic does not pause.
inline constexpr double kSteadySecondsMin = 3;

}  // namespace heatsink::observe
