// SPDX-License-Identifier: Apache-2.0
// The searches for the keys of patterns, one at a time, each on a connection of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/copies/pattern_search.h"
#include "heatsink/copies/warm_plans.h"
#include "heatsink/net/net.h"
#include "heatsink/report/report.h"

namespace heatsink::copies {

// One at a time, so that many patterns are no more load for the server than one. The last kOverMax
// that are over are remembered, for whoever asks what came of them.
//
// The keeper's thread.
class PatternSearches final : public WarmPlans::Searches {
 public:
  static constexpr std::size_t kByHandMax = 16;  // that are not over
  static constexpr std::size_t kOverMax = 8;

  PatternSearches(net::EventLoop& loop, NodeState& shared, Warmer& warmer)
      : loop_(loop), shared_(shared), warmer_(warmer) {}

  // Its id; kOutOfRange: kByHandMax are there.
  Result<std::uint64_t> begin_by_hand(const report::WarmPattern& pattern, TimePoint until,
                                      TimePoint now);
  void end(std::uint64_t id);                            // nothing happens if there is none
  void end_by_hand(const report::WarmPattern& pattern);  // those for it, whoever ordered them
  void begin(const PatternSearch::Order& order, TimePoint now) override;
  void end_source(std::uint32_t source) override;

  // As often as PatternSearch::step() wants, not from within a connection's own calls. Whoever
  // calls publishes the table afterwards.
  void step(TimePoint now);
  bool none() const { return searches_.empty(); }
  bool under_way() const { return connection_.has_value(); }

  const PatternSearch* find(std::uint64_t id) const;  // null: none, or it is forgotten
  std::vector<report::WarmSearch> report() const;     // the newest first

 private:
  PatternSearch& add(PatternSearch::Order order, TimePoint now);
  void forget();

  net::EventLoop& loop_;
  NodeState& shared_;
  Warmer& warmer_;
  std::uint64_t last_id_ = 0;
  std::list<PatternSearch> searches_;  // oldest first
  PatternSearch* now_ = nullptr;       // the one under way, and its connection
  std::optional<redis::ServerConnection> connection_;
};

}  // namespace heatsink::copies
