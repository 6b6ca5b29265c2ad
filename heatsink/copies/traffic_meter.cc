// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/traffic_meter.h"

#include <algorithm>
#include <cmath>

namespace heatsink::copies {
namespace {

// The guess before the first fills (admit::guessed_shape) counts as much as so many fills.
constexpr double kGuessedFills = 32;
// What believe() counts for: about as much as a second of a quiet proxy.
constexpr double kBelievedWrites = 1000;
constexpr double kBelievedFills = 320;
constexpr double kRecentKept = 0.8;   // per second: about 5 s
constexpr double kSteadyKept = 0.97;  // about 33 s

// A change beyond the noise: the commands at once by this factor, the awaited fills by this share.
constexpr double kMovedFactor = 1.5;
constexpr double kMovedShare = 0.4;
constexpr double kCommandsToKnow = 200;
constexpr double kWaitsToKnow = 16;
constexpr double kTurnsToKnow = 50;

double ratio(double some, double all, double otherwise) { return all < 1 ? otherwise : some / all; }

}  // namespace

ServerWork operator-(const ServerWork& now, const ServerWork& then) {
  return {.commands = now.commands - then.commands,
          .client_reads = now.client_reads - then.client_reads,
          .writes = now.writes - then.writes,
          .turns = now.turns - then.turns,
          .awaited_fills = now.awaited_fills - then.awaited_fills,
          .queued_fills = now.queued_fills - then.queued_fills,
          .earned_hits = now.earned_hits - then.earned_hits,
          .hits = now.hits - then.hits,
          .cpu = now.cpu - then.cpu,
          .waits = now.waits - then.waits,
          .asks = now.asks - then.asks,
          .waited = now.waited - then.waited,
          .asked = now.asked - then.asked,
          .batches = now.batches - then.batches};
}

ServerWork& ServerWork::operator+=(const ServerWork& more) {
  commands += more.commands;
  client_reads += more.client_reads;
  writes += more.writes;
  turns += more.turns;
  awaited_fills += more.awaited_fills;
  queued_fills += more.queued_fills;
  earned_hits += more.earned_hits;
  hits += more.hits;
  cpu += more.cpu;
  waits += more.waits;
  asks += more.asks;
  waited += more.waited;
  asked += more.asked;
  batches += more.batches;
  return *this;
}

void TrafficMeter::Sums::decay(double kept) {
  for (double* sum : {&commands, &writes, &turns, &hits, &awaited_fills, &queued_fills, &waits,
                      &asks, &waited_ns, &asked_ns})
    *sum *= kept;
  batches.decay(kept);
}

void TrafficMeter::Sums::add(const ServerWork& work) {
  commands += static_cast<double>(work.commands);
  writes += static_cast<double>(work.writes);
  turns += static_cast<double>(work.turns);
  hits += static_cast<double>(work.hits);
  awaited_fills += static_cast<double>(work.awaited_fills);
  queued_fills += static_cast<double>(work.queued_fills);
  waits += static_cast<double>(work.waits);
  asks += static_cast<double>(work.asks);
  waited_ns += static_cast<double>(work.waited.count());
  asked_ns += static_cast<double>(work.asked.count());
  batches += work.batches;
}

Nanos TrafficMeter::wait() const {
  if (steady_.waits < kWaitsToKnow || steady_.asks < kWaitsToKnow) return Nanos(0);
  const double longer = steady_.waited_ns / steady_.waits - steady_.asked_ns / steady_.asks;
  return Nanos(std::llround(std::max(longer, 0.0)));
}

void TrafficMeter::believe(double at_once, double awaited) {
  steady_ = {.commands = at_once * kBelievedWrites,
             .writes = kBelievedWrites,
             .awaited_fills = awaited * kBelievedFills,
             .queued_fills = (1 - awaited) * kBelievedFills};
  recent_ = steady_;
}

void TrafficMeter::saw(const ServerWork& work) {
  recent_.add(work);
  steady_.add(work);
}

void TrafficMeter::tick() {
  moved_for_ = has_moved() ? moved_for_ + 1 : 0;
  if (moved_for_ >= kSureTicks) {
    steady_ = recent_;
    moved_for_ = 0;
  }
  recent_.decay(kRecentKept);
  steady_.decay(kSteadyKept);
}

bool TrafficMeter::has_moved() const {
  if (recent_.commands < kCommandsToKnow) return false;
  const admit::TrafficShape now = recent(), before = shape();
  const double factor =
      std::max(now.at_once, before.at_once) / std::min(now.at_once, before.at_once);
  return factor > kMovedFactor || std::abs(now.awaited - before.awaited) > kMovedShare;
}

admit::TrafficShape TrafficMeter::shape_of(const Sums& sums, double hits) {
  admit::TrafficShape shape = admit::guessed_shape(ratio(sums.commands, sums.writes, 1));
  shape.awaited = (sums.awaited_fills + kGuessedFills * shape.awaited) /
                  (sums.awaited_fills + sums.queued_fills + kGuessedFills);
  if (sums.batches.turns() >= kTurnsToKnow)
    shape.spared_wake_ups =
        sums.batches.spared_by_hit(std::max(hits, ratio(sums.hits, sums.hits + sums.commands, 0)),
                                   ratio(sums.writes, sums.turns, 1));
  return shape;
}

}  // namespace heatsink::copies
