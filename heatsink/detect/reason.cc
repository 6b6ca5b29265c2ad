// SPDX-License-Identifier: Apache-2.0
#include "heatsink/detect/reason.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "heatsink/base/printable.h"

namespace heatsink::detect {
namespace {

constexpr std::size_t kRuleNameBytesMax = 64;

std::string bytes_per_second(double rate) {
  constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  for (; rate >= 1024 && unit + 1 < std::size(kUnits); ++unit) rate /= 1024;
  return fmt::format("{:.{}f} {}/s", rate, unit > 0 && rate < 100 ? 1 : 0, kUnits[unit]);
}

// Writes figures in the unit of one rule.
class Figures {
 public:
  Figures(const Rule& rule, const Evidence& evidence) : rule_(rule), evidence_(evidence) {}

  std::string rate(double value) const {
    switch (rule_.measure.dimension) {
      case Dimension::kBytes:
        return bytes_per_second(value);
      case Dimension::kWrites:
        return number(value) + " writes/s";
      case Dimension::kMisses:
        return number(value) + " misses/s";
      case Dimension::kRequests:
        break;
    }
    return number(value) + "/s";
  }
  std::string low() const { return rate(evidence_.rate_low); }
  std::string high() const { return rate(evidence_.rate_high); }

  std::string hot() const { return threshold("hot", threshold_.hot, rule_.hot_part > 0); }
  std::string warm() const { return threshold("warm", threshold_.warm, rule_.warm_part > 0); }
  // A plain number, for sentences that name the option.
  std::string limit(double value, bool is_automatic) const {
    if (is_bytes()) return bytes_per_second(value);
    return is_automatic ? number(value) : fmt::format("{:g}", value);
  }

  std::string share() const {
    return fmt::format("{} of {}", percent(evidence_.share_low), traffic());
  }
  // The comparison that makes the key hot.
  std::string above_hot() const {
    const bool is_above = evidence_.rate_low >= threshold_.hot;
    if (is_above || rule_.hot_share <= 0) {
      return fmt::format("{} {} {}", low(), is_above ? ">=" : "near", hot());
    }
    return fmt::format("{} {} hot-share {}, at {}", share(),
                       evidence_.share_low >= rule_.hot_share ? ">=" : "near",
                       percent(rule_.hot_share), low());
  }
  std::string gain() const {
    const std::uint64_t count = evidence_.gain.count;
    switch (rule_.measure.dimension) {
      case Dimension::kBytes:
        return fmt::format("{} bytes", count);
      case Dimension::kRequests:
        return fmt::format("{} accesses", count);
      default:
        return fmt::format("{} {}", count, to_string(rule_.measure.dimension));
    }
  }

 private:
  static std::string number(double value) {
    return fmt::format("{:.{}f}", value, value < 10 ? 1 : 0);
  }
  static std::string percent(double part) { return fmt::format("{:.1f} %", part * 100); }
  bool is_bytes() const { return rule_.measure.dimension == Dimension::kBytes; }
  std::string threshold(const char* name, double value, bool is_automatic) const {
    const bool is_requests = rule_.measure.dimension == Dimension::kRequests;
    const bool is_divided = rule_.fleet_size > 1 && !is_automatic;
    const double whole = is_divided ? value * static_cast<double>(rule_.fleet_size) : value;
    return fmt::format("{}{} {}{}{}", name, is_requests ? "-qps" : "", is_automatic ? "auto=" : "",
                       limit(whole, is_automatic),
                       is_divided ? fmt::format(" / {} instances", rule_.fleet_size) : "");
  }
  const char* traffic() const {
    const Dimension dimension = rule_.measure.dimension;
    return dimension == Dimension::kRequests ? "traffic" : to_string(dimension);
  }

  const Rule& rule_;
  const Evidence& evidence_;
  const Thresholds& threshold_ = evidence_.threshold;
};

std::string cooled(const Figures& figures, const Rule& rule, double hot) {
  const std::string name = figures.hot();
  std::string text = fmt::format("at most {} < {} ({} x demote-ratio {:g})", figures.high(),
                                 figures.limit(hot * rule.demote_ratio, rule.hot_part > 0), name,
                                 rule.demote_ratio);
  if (rule.hot_share > 0) {
    text += fmt::format(", and below hot-share {:.1f} % x the same", rule.hot_share * 100);
  }
  return text;
}

std::string mostly_written(const Figures& figures, const Rule& rule, const Evidence& evidence) {
  const double reads_per_write = static_cast<double>(evidence.reads) /
                                 static_cast<double>(std::max<std::uint64_t>(evidence.writes, 1));
  const std::string rate = evidence.heat_low >= 1 ? figures.above_hot() : figures.low();
  // A write-hot key must be read clearly more often before it counts as read again.
  if (reads_per_write >= rule.write_hot_ratio) {
    return fmt::format("{}; {:.1f} reads per write, not clearly above {:g} for long enough yet",
                       rate, reads_per_write, rule.write_hot_ratio);
  }
  return fmt::format(
      "{}, but {:.1f} reads per write < {:g}: writes would drop a local copy too often", rate,
      reads_per_write, rule.write_hot_ratio);
}

std::size_t hot_max(const SelectorOptions& options) {
  return options.top_n == 0 ? options.keys_max : options.top_n;
}

std::string words(Cause cause, const Rule& rule, const SelectorOptions& options,
                  const Evidence& evidence) {
  const Figures figures(rule, evidence);
  switch (cause) {
    case Cause::kNone:
      return "";
    case Cause::kBelowWarm:
      return fmt::format("at most {} < {}", figures.high(), figures.warm());
    case Cause::kAboveWarm:
      return fmt::format("{} {} {} ({})", figures.low(),
                         evidence.rate_low >= evidence.threshold.warm ? ">=" : "near",
                         figures.warm(), figures.share());
    case Cause::kConfirming:
      return fmt::format("{}, but not yet for {} windows", figures.above_hot(),
                         rule.confirm_windows);
    case Cause::kTopNFull:
      return fmt::format("{}, but {} other keys are hot (top-n)", figures.above_hot(),
                         hot_max(options));
    case Cause::kWaiting:
      return figures.above_hot() + ", but waiting for the end of the promotion-interval";
    case Cause::kAboveHot:
      return evidence.rate_low >= evidence.threshold.hot
                 ? fmt::format("{} ({})", figures.above_hot(), figures.share())
                 : figures.above_hot();
    case Cause::kBurst:
      return fmt::format("{} more within {:.0f} ms: a burst, {:.0f} % of {} in one window",
                         figures.gain(),
                         std::chrono::duration<double, std::milli>(evidence.gain.within).count(),
                         evidence.heat_low * 100, figures.hot());
    case Cause::kMostlyWritten:
      return mostly_written(figures, rule, evidence);
    case Cause::kCooled:
      return cooled(figures, rule, evidence.threshold.hot);
    case Cause::kMostlyRead:
      return fmt::format("{} < {}, and no longer mostly written", figures.low(), figures.hot());
    case Cause::kDisplaced:
      return fmt::format("{}: a busier key took its place among the top-n {}", figures.low(),
                         hot_max(options));
    case Cause::kNoRoom:
      return fmt::format("{}: {} busier keys are already listed", figures.low(), options.keys_max);
    case Cause::kVanished:
      return fmt::format("at most {}: no longer among the busiest keys", figures.high());
  }
  return "";
}

Cause cause_now(const Standing& standing, const Rule& rule, const Evidence& evidence) {
  switch (standing.cause) {
    case Cause::kBurst:
      return evidence.is_burst ? Cause::kBurst : Cause::kAboveHot;
    case Cause::kCooled: {
      const bool is_true = evidence.heat_high < rule.demote_ratio;
      return is_true || standing.temperature != Temperature::kWarm ? Cause::kCooled
                                                                   : Cause::kAboveWarm;
    }
    case Cause::kMostlyRead:
    case Cause::kDisplaced:
      return standing.temperature == Temperature::kWarm ? Cause::kAboveWarm : standing.cause;
    default:
      return standing.cause;
  }
}

}  // namespace

std::string sentence_now(const Standing& standing, const Rule& rule, const SelectorOptions& options,
                         const Evidence& evidence) {
  return sentence(cause_now(standing, rule, evidence), rule, options, evidence);
}

std::string sentence(Cause cause, const Rule& rule, const SelectorOptions& options,
                     const Evidence& evidence) {
  std::string text = words(cause, rule, options, evidence);
  if (!text.empty() && evidence.instances > 0) {
    text += fmt::format(", counted by {} instances; here {}", evidence.instances,
                        Figures(rule, evidence).rate(evidence.rate_here));
  }
  if (!text.empty() && !rule.name.empty()) {
    text += ", rule " + printable(rule.name, kRuleNameBytesMax);
  }
  return text;
}

}  // namespace heatsink::detect
