// SPDX-License-Identifier: Apache-2.0
#include "heatsink/proxy/access_reports.h"

#include <algorithm>
#include <utility>

namespace heatsink::proxy {

AccessReports::AccessReports(SharedState& shared, net::EventLoop& loop, Post post)
    : shared_(shared),
      loop_(loop),
      post_(std::move(post)),
      counter_(shared.options().detection_enabled
                   ? std::make_unique<AccessCounter>(shared.options(), shared.rules(),
                                                     shared.client_names, shared.seed)
                   : nullptr) {}

void AccessReports::follow_policy() {
  if (!counter_) return;
  const copies::PolicySnapshot& policy = shared_.current();
  counted_for_ = shared_.fleet_instances.load(std::memory_order_relaxed);
  counter_->reconfigure(policy.options, policy.rules, counted_for_);
}

// In a larger fleet each proxy sees a smaller part of a hot key.
void AccessReports::follow_fleet() {
  if (shared_.fleet_instances.load(std::memory_order_relaxed) != counted_for_) follow_policy();
}

void AccessReports::tick() {
  if (!counter_) return;
  follow_fleet();
  post(false);
}

void AccessReports::post(bool urgent) {
  std::vector<detect::Summary> summaries = counter_->summarize(loop_.now());
  quiet_ = std::all_of(summaries.begin(), summaries.end(), [](const detect::Summary& summary) {
    return summary.requests == 0 && summary.keys.empty();
  });
  post_(std::move(summaries), urgent);
}

void AccessReports::end_turn() {
  if (!counter_) return;
  if (counter_->take_urgent(loop_.now())) post(true);
  if (!counter_->waits() || urgent_timer_ != 0) return;
  // The timer's turn ends in this function again.
  urgent_timer_ = loop_.call_after(AccessCounter::kUrgentPause, [this] { urgent_timer_ = 0; });
}

}  // namespace heatsink::proxy
