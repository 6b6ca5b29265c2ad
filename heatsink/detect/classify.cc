// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/classify.h"

#include <algorithm>
#include <limits>

namespace heatsink::detect {
namespace {

// A write-hot key whose residence is not over leaves only when it is read this many times more
// often than write_hot_ratio asks.
constexpr double kClearlyRead = 2;

// Part of a burst's accesses that must be new since the earlier sighting.
constexpr double kBurstNew = 0.75;

// Fewer accesses than this come together by chance: with low thresholds a quarter of the evidence
// would prove nothing. On a real trace of 1000 requests/s, hot from 10 in 10 s on, it made four
// times too many keys hot.
constexpr double kBurstLeast = 10;

// The reads per write are below the rule's ratio x `factor`.
bool mostly_written(const Rule& rule, const Evidence& evidence, double factor) {
  return evidence.writes > 0 &&
         static_cast<double>(evidence.reads) <
             rule.write_hot_ratio * factor * static_cast<double>(evidence.writes);
}

double times(double value, double threshold) {
  return threshold > 0 ? value / threshold : std::numeric_limits<double>::infinity();
}

// A key above both warm and hot_share is as hot as one above hot.
double heat(const Rule& rule, const Thresholds& threshold, double rate, double share) {
  const double by_rate = rate / threshold.hot;
  if (rule.hot_share <= 0) return by_rate;
  return std::max(by_rate, std::min(times(share, rule.hot_share), times(rate, threshold.warm)));
}

bool is_passing(Cause cause) {
  return cause == Cause::kConfirming || cause == Cause::kTopNFull || cause == Cause::kWaiting;
}

// A key that stays warm keeps its reason while the reason is still true.
Cause cause_of_warmth(const Standing& standing) {
  const bool lasts = standing.temperature == Temperature::kWarm && !is_passing(standing.cause);
  return lasts ? standing.cause : Cause::kAboveWarm;
}

Classification warm_or_cold(const Rule& rule, const Standing& standing, const Evidence& evidence) {
  if (!evidence.is_listed) return {Temperature::kCold, Cause::kVanished};
  const bool was_more = standing.temperature > Temperature::kWarm;
  const bool rises = evidence.rate_low >= evidence.threshold.warm;
  const bool stays = standing.temperature != Temperature::kCold &&
                     evidence.rate_high >= evidence.threshold.warm * rule.demote_ratio;
  if (rises || stays) {
    return {Temperature::kWarm, was_more ? Cause::kCooled : cause_of_warmth(standing)};
  }
  return {Temperature::kCold, was_more ? Cause::kCooled : Cause::kBelowWarm};
}

// If a list is full of busier keys (a flood of them), the absence of a key does not prove that it
// cooled down. But an unlisted key gets no hysteresis: a bound below the threshold is enough.
bool is_cool(const Rule& rule, const Evidence& evidence) {
  return evidence.heat_high < (evidence.is_listed ? rule.demote_ratio : 1);
}

bool is_confirmed(const Rule& rule, const Standing& standing, TimePoint at) {
  const std::uint32_t further_windows = std::max(rule.confirm_windows, 1U) - 1;
  return at - standing.above_since >= rule.measure.window * further_windows;
}

Classification hot_if_confirmed(const Rule& rule, const Standing& standing, TimePoint at) {
  if (!is_confirmed(rule, standing, at)) return {Temperature::kWarm, Cause::kConfirming};
  return {Temperature::kHot, Cause::kAboveHot};
}

Classification classify_hot(const Rule& rule, const Standing& standing, const Evidence& evidence,
                            bool has_stayed) {
  // No minimum residence for a key that is mostly written: each further copy would be a loss.
  const bool is_written = mostly_written(rule, evidence, 1);
  if (is_cool(rule, evidence) && (has_stayed || is_written)) {
    return warm_or_cold(rule, standing, evidence);
  }
  if (is_written) return {Temperature::kWriteHot, Cause::kMostlyWritten};
  return {Temperature::kHot, standing.cause};
}

Classification classify_write_hot(const Rule& rule, const Standing& standing,
                                  const Evidence& evidence, TimePoint at, bool has_stayed) {
  const bool is_cool_now = is_cool(rule, evidence);
  if (!evidence.is_listed || (is_cool_now && has_stayed)) {
    return warm_or_cold(rule, standing, evidence);
  }
  // A key near its threshold must not alternate between warm and write-hot; hysteresis holds a
  // write-hot key as it holds a hot one.
  if (is_cool_now) return {Temperature::kWriteHot, standing.cause};
  // Against flapping the key must be read more often than the ratio asks: a little more after its
  // residence, clearly more before. So the writes that create a key do not count against it for
  // long.
  const double factor = has_stayed && rule.demote_ratio > 0
                            ? std::min(kClearlyRead, 1 / rule.demote_ratio)
                            : kClearlyRead;
  if (mostly_written(rule, evidence, factor)) return {Temperature::kWriteHot, standing.cause};
  if (evidence.heat_low >= 1) return hot_if_confirmed(rule, standing, at);
  return {Temperature::kWarm, Cause::kMostlyRead};
}

Classification classify_others(const Rule& rule, const Standing& standing, const Evidence& evidence,
                               TimePoint at) {
  const bool is_written = mostly_written(rule, evidence, 1);
  if (evidence.heat_low >= 1) {
    if (is_written) return {Temperature::kWriteHot, Cause::kMostlyWritten};
    return hot_if_confirmed(rule, standing, at);
  }
  // Many keys are written before they are read, so only a proven rate makes a key write-hot.
  if (evidence.is_burst && !is_written) return {Temperature::kHot, Cause::kBurst};
  return warm_or_cold(rule, standing, evidence);
}

}  // namespace

Evidence evidence_of(const Rule& rule, const Summary& window, const KeyCount& count) {
  Evidence out;
  out.threshold = thresholds(rule, window);
  out.is_listed = true;
  const double seconds = window.seconds();
  const auto low = static_cast<double>(count.low);
  const auto high = static_cast<double>(count.high);
  if (seconds > 0) {
    out.rate_low = low / seconds;
    out.rate_high = high / seconds;
  }
  if (const auto total = static_cast<double>(window.total()); total > 0) {
    out.share_low = std::min(low / total, 1.0);
    out.share_high = std::min(high / total, 1.0);
  }
  out.heat_low = heat(rule, out.threshold, out.rate_low, out.share_low);
  out.heat_high = heat(rule, out.threshold, out.rate_high, out.share_high);
  out.reads = count.reads;
  out.writes = count.writes;
  return out;
}

Evidence evidence_of_unlisted(const Rule& rule, const Summary& window) {
  KeyCount unlisted;
  unlisted.high = window.absent_max;
  Evidence out = evidence_of(rule, window, unlisted);
  out.is_listed = false;
  return out;
}

void look_for_burst(Evidence& evidence, const Rule& rule, const KeyCount& count, const Gain& gain,
                    Nanos span, double part) {
  if (part <= 0 || rule.confirm_windows > 1) return;
  const double needed =
      part * evidence.threshold.hot * std::chrono::duration<double>(rule.measure.window).count();
  if (needed < kBurstLeast || static_cast<double>(count.low) < needed) return;
  const double spans = std::chrono::duration<double>(gain.within) / span;
  if (static_cast<double>(gain.count) < needed * kBurstNew * std::max(1.0, spans)) return;
  evidence.is_burst = true;
  evidence.gain = gain;
}

Evidence hotter_evidence(const Evidence& here, const Evidence& fleet) {
  const bool is_fleet = fleet.heat_low > here.heat_low || (fleet.is_burst && !here.is_burst);
  Evidence out = is_fleet ? fleet : here;
  out.is_listed = here.is_listed || fleet.is_listed;
  out.heat_high = std::max(here.heat_high, fleet.heat_high);
  return out;
}

Classification classify(const Rule& rule, const Standing& standing, const Evidence& evidence,
                        TimePoint at) {
  const bool has_stayed = at - standing.since >= rule.minimum_residence;
  switch (standing.temperature) {
    case Temperature::kHot:
      return classify_hot(rule, standing, evidence, has_stayed);
    case Temperature::kWriteHot:
      return classify_write_hot(rule, standing, evidence, at, has_stayed);
    default:
      return classify_others(rule, standing, evidence, at);
  }
}

Classification classify_unpromoted(const Rule& rule, const Standing& standing,
                                   const Evidence& evidence, Cause why) {
  if (evidence.heat_low >= 1) return {Temperature::kWarm, why};
  return warm_or_cold(rule, standing, evidence);
}

}  // namespace heatsink::detect
