// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/replay_report.h"

#include <fmt/format.h>

#include <algorithm>

namespace heatsink::app {
namespace {

constexpr double kFewAccesses = 100;  // in a window: one that is missed is more than 1 % of them

template <class T>
std::size_t place_of(const std::vector<T>& values, const T& wanted) {
  const auto found = std::find(values.begin(), values.end(), wanted);
  return found == values.end() ? 0 : static_cast<std::size_t>(found - values.begin());
}

void reading_caveats(const replay::ReadingFacts& facts, std::vector<std::string>& out) {
  if (facts.full)
    out.push_back("The trace did not fit into --memory: only its beginning was read.");
  if (facts.bad_lines > 0) {
    std::string named;
    for (const replay::BadLine& bad : facts.first_bad_lines)
      named += fmt::format("{} line {}: {}", named.empty() ? "" : ";", bad.number, bad.why);
    out.push_back(fmt::format("{} of {} lines could not be read and were left out:{}{}.",
                              facts.bad_lines, facts.lines, named,
                              facts.bad_lines > facts.first_bad_lines.size() ? "; ..." : ""));
  }
  if (facts.times_back > 0) {
    out.push_back(fmt::format(
        "{} timestamps were earlier than the one before them, and taken as equal to it.",
        facts.times_back));
  }
  if (facts.keyless > 0)
    out.push_back(fmt::format("{} commands without keys were left out.", facts.keyless));
  out.insert(out.end(), facts.caveats.begin(), facts.caveats.end());
}

}  // namespace

std::size_t ReplayReport::chosen_window() const {
  return place_of(grid.windows, recommendation.chosen.setting.window);
}

std::size_t ReplayReport::chosen_capacity() const {
  return place_of(grid.capacities, recommendation.chosen.setting.capacity);
}

std::string capacity_text(const replay::Capacity& capacity) {
  return capacity.entries_max < 4096 || capacity.bytes_max >= replay::kNoByteLimit
             ? fmt::format("{}", capacity.entries_max)
             : format_bytes(capacity.bytes_max);
}

bool knows_bytes(const ReplayReport& report) { return report.facts.sized > 0; }

std::string memory_title(const ReplayReport& report) {
  return report.facts.sized < report.trace.accesses.size() ? "memory est." : "memory";
}

std::string no_caching_sentence(const ReplayReport& report) {
  if (report.recommendation.caching) return "";
  return report.trace.facts.behind_proxy
             ? "No advice: what a heatsink answers from its copies is missing in this trace."
             : "Leave caching off for this traffic.";
}

std::string missed_sentence(const ReplayReport& report) {
  if (!report.accuracy || report.accuracy->named_truly == report.accuracy->truly) return "";
  const replay::Accuracy& accuracy = *report.accuracy;
  const bool is_full = std::any_of(
      accuracy.moments.begin(), accuracy.moments.end(),
      [](const replay::HotMoment& moment) { return moment.truly >= replay::Accuracy::kKeysMax; });
  if (is_full) {
    return fmt::format(
        "More keys were hot at once than the {} that there can be verdicts for: which of them are "
        "named is chance, and precision and recall say little. A higher threshold (--hot-qps) "
        "shows the detector.",
        replay::Accuracy::kKeysMax);
  }
  const detect::Rule& rule = report.judged.rule;
  const double needed = rule.hot * std::chrono::duration<double>(rule.measure.window).count();
  const std::uint64_t missed = accuracy.truly - accuracy.named_truly;
  return fmt::format(
      "Not named were, counted at each judgement, {} hot keys. Of these {} were hot only from "
      "before (a crossing, or a burst, that was not proven at the time), and of {} the bounds "
      "reached "
      "the threshold, but not what is proven: accesses from before the detector began to follow a "
      "key are no proof. This threshold asks for {:g} "
      "accesses in its window{}.",
      missed, accuracy.lasting, accuracy.unproven, needed,
      needed < kFewAccesses
          ? ", so few of them decide: a higher threshold or a longer window leaves less in doubt"
          : "");
}

std::vector<std::string> caveats(const ReplayReport& report) {
  std::vector<std::string> out;
  reading_caveats(report.trace.facts, out);
  const std::uint64_t all = report.trace.accesses.size();
  if (report.facts.sized < all) {
    out.push_back(
        fmt::format("The trace tells the size of {} values; {} were assumed for the "
                    "others, so memory is an estimate (--value-size).",
                    report.facts.sized == 0 ? "no" : std::to_string(report.facts.sized),
                    format_bytes(report.rules.value_bytes_assumed)));
  }
  if (report.trace.facts.behind_proxy) {
    out.emplace_back(
        "WARNING: this was recorded at a server with a heatsink in front. What that answers from "
        "its copies is not in the trace: hot keys look cold in it. MONITOR through the proxy shows "
        "no more. Record at the proxy instead: heatsink top --record, or packets of its port.");
  }
  if (report.trace.facts.is_recording) {
    out.push_back(
        "A recording of heatsink top knows rates of hot and warm keys, not single accesses: they "
        "were spread evenly between two answers, and its reads taken as GETs. Bursts, keys below "
        "warm-qps, and the detector's "
        "accuracy cannot be seen in it, and thresholds under its warm-qps save more than is said.");
  }
  if (report.facts.reads > 0) {
    out.push_back(fmt::format(
        "{} reads are no {}: they make a key hot, but are counted as reaching the server. "
        "What a proxy answers of them from copies comes on top.",
        report.facts.reads, replay::kCopiedRead));
  }
  return out;
}

}  // namespace heatsink::app
