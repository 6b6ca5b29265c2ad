// SPDX-License-Identifier: Apache-2.0
// Runs the searches for keys of patterns, one at a time, each on its own connection.
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

// One at a time, so that many patterns load the server no more than one. The last kOverMax finished
// searches are kept for queries.
//
// The keeper's thread.
class PatternSearches final : public WarmPlans::Searches {
 public:
  static constexpr std::size_t kByHandMax = 16;  // unfinished searches
  static constexpr std::size_t kOverMax = 8;

  PatternSearches(net::EventLoop& loop, NodeState& shared, Warmer& warmer)
      : loop_(loop), shared_(shared), warmer_(warmer) {}

  // Returns the id; kOutOfRange: kByHandMax searches are unfinished.
  Result<std::uint64_t> begin_by_hand(const report::WarmPattern& pattern, TimePoint until,
                                      TimePoint now);
  void end(std::uint64_t id);  // no effect without such a search
  // All searches for it, whatever their source.
  void end_by_hand(const report::WarmPattern& pattern);
  void begin(const PatternSearch::Order& order, TimePoint now) override;
  void end_source(std::uint32_t source) override;

  // Call it as often as PatternSearch::step() needs, but not from within a connection's calls.
  void step(TimePoint now);
  bool none() const { return searches_.empty(); }
  bool under_way() const { return connection_.has_value(); }

  const PatternSearch* find(std::uint64_t id) const;  // null: unknown or forgotten
  std::vector<report::WarmSearch> report() const;     // newest first

 private:
  PatternSearch& add(PatternSearch::Order order, TimePoint now);
  void forget();

  net::EventLoop& loop_;
  NodeState& shared_;
  Warmer& warmer_;
  std::uint64_t last_id_ = 0;
  std::list<PatternSearch> searches_;  // oldest first
  PatternSearch* now_ = nullptr;       // the one under way, with its connection
  std::optional<redis::ServerConnection> connection_;
};

}  // namespace heatsink::copies
