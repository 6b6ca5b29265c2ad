// SPDX-License-Identifier: Apache-2.0
// Asks a tracker's server now and then what no push tells: exchanged databases,
// eviction, CPU time, the rights of the connection's user.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/clock.h"
#include "heatsink/redis/server_use.h"
#include "heatsink/redis/swap_count.h"
#include "heatsink/redis/tracker_events.h"
#include "heatsink/redis/tracker_requests.h"
#include "heatsink/resp/value.h"

namespace heatsink::redis {

// Owns the latest answers and when each question is due. The caller decides
// whether a question may be asked at all. One thread.
class ServerQuestions {
 public:
  // All outlive it.
  ServerQuestions(const TrackerOptions& options, TrackerRequests& requests, TrackerEvents& events)
      : options_(options), requests_(requests), events_(events) {}

  void begin();  // a new connection: nothing is known

  // ---- how often databases were exchanged (SWAPDB); not of a node of a
  // cluster

  // At the next heartbeat it would be too late.
  bool are_swaps_due(TimePoint now) const;
  // `after_code`: what ran may have exchanged databases.
  void ask_swaps(TimePoint now, bool after_code);
  // The reply. True: no copy made so far may be served.
  bool on_swaps(const Asked& asked, const resp::Value& reply);
  // Whether the server tells of every exchange.
  bool counts_swaps() const { return swaps_.counts(); }

  // ---- whether it evicts by use

  void ask_eviction(TimePoint now);
  void on_eviction(const resp::Value& reply);
  std::optional<bool> evicts_by_use() const { return evicts_by_use_; }  // empty: not known yet

  // ---- its CPU time: TrackerEvents::on_server_use()

  void ask_use_if_due(TimePoint now);
  void on_use(Question question, const resp::Value& reply, TimePoint now);

  // ---- the user's rights: TrackerEvents::on_rights_changed()

  void ask_rights_if_due(TimePoint now);
  void ask_rights(TimePoint now);
  void on_rights(const resp::Value& reply, std::string_view wire);
  bool shows_rights() const { return rights_.has_value() && !rights_->empty(); }

 private:
  const TrackerOptions& options_;
  TrackerRequests& requests_;
  TrackerEvents& events_;
  SwapCount swaps_;
  TimePoint swaps_asked_at_{};
  std::optional<bool> evicts_by_use_;
  ServerUse use_;                      // as far as it has been answered
  TimePoint use_asked_from_{};         // not before this
  std::optional<std::string> rights_;  // as the server last described them; "": unknown
  TimePoint rights_asked_at_{};
};

}  // namespace heatsink::redis
