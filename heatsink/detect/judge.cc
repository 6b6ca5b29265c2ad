// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/judge.h"

#include <fmt/format.h>

#include <algorithm>

namespace heatsink::detect {
namespace {

bool mostly_written(const SelectorOptions& options, const KeyCount& count, double reads_factor) {
  return count.writes > 0 && static_cast<double>(count.reads) * reads_factor <
                                 options.write_hot_ratio * static_cast<double>(count.writes);
}

// A warm key that stays warm keeps its reason as long as that is still true.
Cause cause_of_warmth(const Standing& standing) {
  const bool lasts = standing.temperature == Temperature::kWarm &&
                     standing.cause != Cause::kConfirming && standing.cause != Cause::kTopNFull;
  return lasts ? standing.cause : Cause::kAboveWarm;
}

Judgement warm_or_cold(const SelectorOptions& options, const Standing& standing,
                       const Verdict& verdict) {
  const bool was_more = standing.temperature > Temperature::kWarm;
  const bool rises = verdict.rate_low >= options.warm_qps;
  const bool stays = standing.temperature != Temperature::kCold &&
                     verdict.rate_high >= options.warm_qps * options.demote_ratio;
  if (rises || stays) {
    return {Temperature::kWarm, was_more ? Cause::kCooled : cause_of_warmth(standing)};
  }
  return {Temperature::kCold, was_more ? Cause::kCooled : Cause::kBelowWarm};
}

Judgement judge_hot(const SelectorOptions& options, const Standing& standing,
                    const Verdict& verdict, bool has_stayed) {
  // No residence for a key that is written: each further copy would be a loss.
  if (mostly_written(options, verdict.count, 1)) {
    return {Temperature::kWriteHot, Cause::kMostlyWritten};
  }
  if (verdict.rate_high >= options.hot_qps * options.demote_ratio || !has_stayed) {
    return {Temperature::kHot, Cause::kAboveHot};
  }
  return warm_or_cold(options, standing, verdict);
}

Judgement judge_write_hot(const SelectorOptions& options, const Standing& standing,
                          const Verdict& verdict, bool has_stayed) {
  if (verdict.rate_high < options.hot_qps * options.demote_ratio) {
    return warm_or_cold(options, standing, verdict);
  }
  // Against flapping it must be read clearly more than the ratio asks, after its residence.
  if (!has_stayed || mostly_written(options, verdict.count, options.demote_ratio)) {
    return {Temperature::kWriteHot, Cause::kMostlyWritten};
  }
  if (verdict.rate_low >= options.hot_qps) return {Temperature::kHot, Cause::kAboveHot};
  return {Temperature::kWarm, Cause::kMostlyRead};
}

Judgement judge_others(const SelectorOptions& options, const Standing& standing,
                       const Verdict& verdict, TimePoint at, Nanos window) {
  if (verdict.rate_low < options.hot_qps) return warm_or_cold(options, standing, verdict);
  if (mostly_written(options, verdict.count, 1)) {
    return {Temperature::kWriteHot, Cause::kMostlyWritten};
  }
  const std::uint32_t further_windows = std::max(options.confirm_windows, 1U) - 1;
  if (at - standing.above_since < window * further_windows) {
    return {Temperature::kWarm, Cause::kConfirming};
  }
  return {Temperature::kHot, Cause::kAboveHot};
}

std::string per_second(double rate) { return fmt::format("{:.{}f}/s", rate, rate < 10 ? 1 : 0); }

}  // namespace

Judgement judge(const SelectorOptions& options, const Standing& standing, const Verdict& verdict,
                TimePoint at, Nanos window) {
  const bool has_stayed = at - standing.since >= options.minimum_residence;
  switch (standing.temperature) {
    case Temperature::kHot:
      return judge_hot(options, standing, verdict, has_stayed);
    case Temperature::kWriteHot:
      return judge_write_hot(options, standing, verdict, has_stayed);
    default:
      return judge_others(options, standing, verdict, at, window);
  }
}

std::string sentence(Cause cause, const SelectorOptions& options, const Verdict& verdict) {
  const std::string rate = per_second(verdict.rate_low);
  const std::string above_hot = fmt::format("{} >= hot-qps {:g}", rate, options.hot_qps);
  switch (cause) {
    case Cause::kNone:
      return "";
    case Cause::kBelowWarm:
      return fmt::format("{} < warm-qps {:g}", per_second(verdict.rate_high), options.warm_qps);
    case Cause::kAboveWarm:
      return fmt::format("{} {} warm-qps {:g} ({:.1f} % of traffic)", rate,
                         verdict.rate_low >= options.warm_qps ? ">=" : "near", options.warm_qps,
                         verdict.share * 100);
    case Cause::kConfirming:
      return fmt::format("{}, but not yet for {} windows", above_hot, options.confirm_windows);
    case Cause::kTopNFull:
      return fmt::format("{}, but {} busier keys are hot (top-n)", above_hot, options.top_n);
    case Cause::kAboveHot:
      return fmt::format("{} ({:.1f} % of traffic)", above_hot, verdict.share * 100);
    case Cause::kMostlyWritten:
      return fmt::format(
          "{}, but {:.1f} reads per write < {:g}: a local copy would be lost too often", above_hot,
          static_cast<double>(verdict.count.reads) /
              static_cast<double>(std::max<std::uint64_t>(verdict.count.writes, 1)),
          options.write_hot_ratio);
    case Cause::kCooled:
      return fmt::format("at most {} < {:g} (hot-qps {:g} x demote-ratio {:g})",
                         per_second(verdict.rate_high), options.hot_qps * options.demote_ratio,
                         options.hot_qps, options.demote_ratio);
    case Cause::kMostlyRead:
      return fmt::format("{} < hot-qps {:g}, and no longer mostly written", rate, options.hot_qps);
    case Cause::kDisplaced:
      return fmt::format("{}: a busier key took its place among the top-n {}", rate, options.top_n);
    case Cause::kVanished:
      return fmt::format("at most {}: no longer among the busiest keys",
                         per_second(verdict.rate_high));
  }
  return "";
}

}  // namespace heatsink::detect
