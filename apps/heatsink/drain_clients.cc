// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/drain_clients.h"

#include <time.h>

#include <string>

#include "heatsink/base/log.h"
#include "heatsink/base/units.h"

namespace heatsink::app {
namespace {

constexpr Nanos kDrainLook = Millis(20);
constexpr Nanos kLogInterval = std::chrono::seconds(2);

// Whether one of the signals that end the proxy came within kDrainLook.
bool told_again(const sigset_t& signals) {
  const timespec wait{0, kDrainLook.count()};
  const int signal = sigtimedwait(&signals, nullptr, &wait);
  return signal == SIGTERM || signal == SIGINT;
}

std::string clients(std::uint64_t count) {
  return std::to_string(count) + (count == 1 ? " client" : " clients");
}

std::string words_for(const proxy::Proxy::Draining& state) {
  std::uint64_t all = 0;
  for (const std::uint64_t count : state.left) all += count;
  const std::string why = proxy::describe_stays(state.left);
  return clients(all) + (all == 1 ? " remains" : " remain") + (why.empty() ? "" : ": " + why);
}

}  // namespace

void drain_clients(proxy::Proxy& proxy, Nanos drain, const sigset_t& signals) {
  if (drain <= Nanos(0)) return;
  const TimePoint begin = BootClock::now();
  log(LogLevel::kInfo, "draining: no new clients; the present ones have " + format_duration(drain) +
                           " (shutdown.drain) to end what they have begun");
  proxy.begin_drain(drain);
  TimePoint log_at = begin + kLogInterval;
  proxy::Proxy::Draining state = proxy.draining();
  while (!state.over && BootClock::now() < begin + drain_limit(drain)) {
    const bool ends = told_again(signals);
    state = proxy.draining();
    if (ends) {
      log(LogLevel::kWarning, "a second signal ended the draining; " + words_for(state));
      return;
    }
    if (state.over || BootClock::now() < log_at) continue;
    log_at += kLogInterval;
    log(LogLevel::kInfo, "draining: " + words_for(state));
  }
  const std::string cut =
      state.cut == 0 ? "" : ", " + clients(state.cut) + " cut because shutdown.drain was over";
  log(state.cut == 0 ? LogLevel::kInfo : LogLevel::kWarning,
      "drained: " + clients(state.closed) + " closed after all replies" + cut);
}

}  // namespace heatsink::app
