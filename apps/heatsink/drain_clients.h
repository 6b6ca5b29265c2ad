// SPDX-License-Identifier: Apache-2.0
// Shuts a proxy down gently: waits until its clients have ended what they had begun.
#pragma once

#include <signal.h>

#include "apps/heatsink/process/end_within.h"
#include "heatsink/base/clock.h"
#include "heatsink/proxy/proxy.h"

namespace heatsink::app {

// How long drain_clients() takes at most.
constexpr Nanos drain_limit(Nanos drain) {
  constexpr Nanos kToCut = Millis(250);  // the workers' next look at their clients
  return drain > Nanos(0) ? drain + proxy::Drain::kLast + kToCut : Nanos(0);
}

// Drains for at most `drain` (shutdown.drain; 0: not at all), or until SIGTERM or SIGINT comes
// again. REQUIRES that all threads block `signals`. Logs how many clients remain, and why.
void drain_clients(proxy::Proxy& proxy, Nanos drain, const sigset_t& signals);

}  // namespace heatsink::app
