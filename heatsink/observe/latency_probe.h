// SPDX-License-Identifier: Apache-2.0
// Measures how long the server takes to answer a PING, again and again.
#pragma once

#include <algorithm>

#include "heatsink/base/clock.h"
#include "heatsink/observe/command_pipeline.h"

namespace heatsink::observe {

// Sends one PING at a time. One thread; must not be destroyed while the pipeline may still answer.
class LatencyProbe {
 public:
  explicit LatencyProbe(CommandPipeline& pipeline) : pipeline_(pipeline) {}

  // Sends a PING when `interval` has passed since the last one. `on`: heatsink burdens the server
  // now.
  void tick(TimePoint now, Nanos interval, bool on) {
    asked_on_ = asked_on_ || (asking_ && on);  // our load may be what delays this PING
    if (asking_ || !pipeline_.is_up() || now - asked_at_ < interval) return;
    asking_ = true;
    asked_at_ = now;
    asked_on_ = on;
    pipeline_.ask({"PING"}, now, [this](const Result<resp::Value>& reply, TimePoint at) {
      asking_ = false;
      if (!reply) return;
      latest_ = at - asked_at_;
      if (asked_on_) worst_on_ = std::max(worst_on_, latest_);
    });
  }

  // The latency of the latest PING, or the age of the waiting one if that is longer.
  Nanos latest(TimePoint now) const {
    return asking_ ? std::max(latest_, now - asked_at_) : latest_;
  }
  // The longest latency of the PINGs sent or waiting while heatsink burdened the server.
  Nanos worst_on(TimePoint now) const {
    return asking_ && asked_on_ ? std::max(worst_on_, now - asked_at_) : worst_on_;
  }

 private:
  CommandPipeline& pipeline_;
  bool asking_ = false;
  bool asked_on_ = false;
  TimePoint asked_at_{};
  Nanos latest_{0};
  Nanos worst_on_{0};
};

}  // namespace heatsink::observe
