// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/classify.h"

#include <algorithm>
#include <limits>

namespace heatsink::detect {
namespace {

// So much more often than write_hot_ratio asks must a write-hot key be read to be let out before
// its residence is over.
constexpr double kClearlyRead = 2;

// Of what a burst needs, so much must be new; the rest may have been there at its first sighting.
constexpr double kBurstNew = 0.75;

// Fewer accesses than this come together by chance: with low thresholds a quarter of the evidence
// would be none (on a real trace of 1000 requests/s, hot from 10 in 10 s on, it made four times too
// many keys hot).
constexpr double kBurstLeast = 10;

// Reads per write below the rule's ratio x `factor`.
bool mostly_written(const Rule& rule, const Evidence& evidence, double factor) {
  return evidence.writes > 0 &&
         static_cast<double>(evidence.reads) <
             rule.write_hot_ratio * factor * static_cast<double>(evidence.writes);
}

double times(double value, double threshold) {
  return threshold > 0 ? value / threshold : std::numeric_limits<double>::infinity();
}

// Above both warm and hot_share counts like above hot.
double heat(const Rule& rule, double rate, double share) {
  const double by_rate = rate / rule.hot;
  if (rule.hot_share <= 0) return by_rate;
  return std::max(by_rate, std::min(times(share, rule.hot_share), times(rate, rule.warm)));
}

bool is_passing(Cause cause) {
  return cause == Cause::kConfirming || cause == Cause::kTopNFull || cause == Cause::kWaiting;
}

// A warm key that stays warm keeps its reason as long as that is still true.
Cause cause_of_warmth(const Standing& standing) {
  const bool lasts = standing.temperature == Temperature::kWarm && !is_passing(standing.cause);
  return lasts ? standing.cause : Cause::kAboveWarm;
}

Classification warm_or_cold(const Rule& rule, const Standing& standing, const Evidence& evidence) {
  if (!evidence.is_listed) return {Temperature::kCold, Cause::kVanished};
  const bool was_more = standing.temperature > Temperature::kWarm;
  const bool rises = evidence.rate_low >= rule.warm;
  const bool stays = standing.temperature != Temperature::kCold &&
                     evidence.rate_high >= rule.warm * rule.demote_ratio;
  if (rises || stays) {
    return {Temperature::kWarm, was_more ? Cause::kCooled : cause_of_warmth(standing)};
  }
  return {Temperature::kCold, was_more ? Cause::kCooled : Cause::kBelowWarm};
}

// A list that is full of busier keys (a flood of them) is no proof that a key of before has cooled
// down. But where nothing is known of it, hysteresis does not speak for it.
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
  // No residence for a key that is written: each further copy would be a loss.
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
  // A key near its threshold does not turn warm and write-hot again with each judgement: it stays
  // as long as a hot one does.
  if (is_cool_now) return {Temperature::kWriteHot, standing.cause};
  // Against flapping it must be read more than the ratio asks: a little more after its residence,
  // clearly more before. So writes with which a key began do not count against it for long.
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
  // Keys are often written first: only a proven rate makes one write-hot.
  if (evidence.is_burst && !is_written) return {Temperature::kHot, Cause::kBurst};
  return warm_or_cold(rule, standing, evidence);
}

}  // namespace

Evidence evidence_of(const Rule& rule, const Summary& window, const KeyCount& count) {
  Evidence out;
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
  out.heat_low = heat(rule, out.rate_low, out.share_low);
  out.heat_high = heat(rule, out.rate_high, out.share_high);
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
                    double part) {
  if (part <= 0 || rule.confirm_windows > 1) return;
  const double needed =
      part * rule.hot * std::chrono::duration<double>(rule.measure.window).count();
  if (needed < kBurstLeast || static_cast<double>(count.low) < needed) return;
  if (static_cast<double>(gain.count) < needed * kBurstNew) return;
  evidence.is_burst = true;
  evidence.gain = gain;
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
