// SPDX-License-Identifier: Apache-2.0
// Decides when a running proxy checks its deployment again, and what is new in the findings.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <tuple>

#include "heatsink/base/clock.h"
#include "heatsink/base/result.h"
#include "heatsink/doctor/checks.h"
#include "heatsink/doctor/findings_json.h"

namespace heatsink::doctor {

// No thread, no clock, no socket. Not thread-safe.
class WatchState {
 public:
  // While the server has an error: it may have been mended.
  static constexpr Nanos kAgain = std::chrono::seconds(60);
  // Between two looks, however often the connection is lost and back.
  static constexpr Nanos kPause = std::chrono::seconds(10);

  // Whether to look now. `contacts`: how often the proxy has reached or lost its server.
  bool is_due(TimePoint now, std::uint64_t contacts) const;
  // The extent of the next look: everything, until the server has let us in once.
  When next() const { return is_complete_ ? When::kConnect : When::kStart; }

  // Takes what a look found; `when` was next(). `contacts`: read after the look.
  void learn(const Facts& facts, When when, TimePoint now, std::uint64_t contacts);

  // Warnings and errors that were not returned before, without those that the proxy logs itself.
  Findings take_news();

  // `ready` is the proxy's own view. A server that answers but can serve nothing, as a Sentinel, is
  // not ready; and the reason is given in words for an operator.
  Status verdict(Status ready) const;

  const Findings& findings() const { return findings_; }
  std::size_t left_out() const { return left_out_; }
  bool has_looked() const { return looked_at_ != TimePoint{}; }

 private:
  void merge(Findings found);
  bool has_server_error() const;

  TimePoint looked_at_{};
  std::uint64_t contacts_ = 0;
  bool is_complete_ = false;
  Findings findings_;
  std::size_t left_out_ = 0;
  std::set<std::tuple<std::string, std::string, Level>> logged_;  // code, about, level
};

}  // namespace heatsink::doctor
