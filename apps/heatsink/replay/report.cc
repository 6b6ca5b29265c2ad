// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/replay/report.h"

#include <fmt/format.h>

#include <algorithm>

namespace heatsink::app {
namespace {

constexpr double kFewAccesses = 100;  // per window; with fewer, one missed access is more than 1 %

template <class T>
std::size_t index_of(const std::vector<T>& values, const T& wanted) {
  const auto found = std::find(values.begin(), values.end(), wanted);
  return found == values.end() ? 0 : static_cast<std::size_t>(found - values.begin());
}

void reading_caveats(const replay::ReadingFacts& facts, std::vector<std::string>& out) {
  if (facts.full)
    out.push_back(
        "The trace does not fit into --memory: only its beginning was read. "
        "Raise --memory to read more.");
  if (facts.bad_lines > 0) {
    std::string named;
    for (const replay::BadLine& bad : facts.first_bad_lines)
      named += fmt::format("{} line {}: {}", named.empty() ? "" : ";", bad.number, bad.why);
    out.push_back(fmt::format("{} of {} lines cannot be read and were skipped:{}{}.",
                              facts.bad_lines, facts.lines, named,
                              facts.bad_lines > facts.first_bad_lines.size() ? "; ..." : ""));
  }
  if (facts.times_back > 0) {
    out.push_back(fmt::format(
        "{} timestamps were earlier than the one before; the replay treats them as equal to it.",
        facts.times_back));
  }
  if (facts.keyless > 0)
    out.push_back(fmt::format("{} commands without keys were skipped.", facts.keyless));
  out.insert(out.end(), facts.caveats.begin(), facts.caveats.end());
}

}  // namespace

std::size_t ReplayReport::chosen_window() const {
  return index_of(grid.windows, recommendation.chosen.setting.window);
}

std::size_t ReplayReport::chosen_capacity() const {
  return index_of(grid.capacities, recommendation.chosen.setting.capacity);
}

std::string capacity_text(const replay::Capacity& capacity) {
  return capacity.bytes_max >= replay::kNoByteLimit ? fmt::format("{}", capacity.entries_max)
                                                    : format_bytes(capacity.bytes_max);
}

bool knows_bytes(const ReplayReport& report) { return report.facts.sized > 0; }

std::string memory_title(const ReplayReport& report) {
  return report.facts.sized < report.trace.accesses.size() ? "memory est." : "memory";
}

std::string no_caching_sentence(const ReplayReport& report) {
  if (report.budget.caching) return "";
  return report.trace.facts.behind_proxy ? "No recommendation: "
                                           "this trace does not contain the reads "
                                           "that heatsink answered from local copies."
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
        "More keys were hot at once than the detector can name ({}). "
        "Which of them it names is chance, so precision and recall mean little here. "
        "Use a higher threshold (--hot-qps) to test the detector.",
        replay::Accuracy::kKeysMax);
  }
  // The least, where the threshold follows the traffic.
  const detect::Rule& rule = report.judged.rule;
  const double needed = rule.hot * std::chrono::duration<double>(rule.measure.window).count();
  const std::uint64_t missed = accuracy.truly - accuracy.named_truly;
  return fmt::format(
      "The detector missed {} hot keys, counted once per judgement. "
      "For {} of them the upper bound reached the threshold, but the proven rate did not: "
      "accesses before the detector begins to follow a key prove nothing. "
      "A hot key has at least {:g} accesses in its window{}.",
      missed, accuracy.unproven, needed,
      needed < kFewAccesses
          ? ", so a few accesses decide: a higher threshold or a longer window leaves less doubt"
          : "");
}

std::string judged_text(const ReplayReport& report) {
  const detect::Rule& rule = report.judged.rule;
  return rule.hot_part > 0 ? "auto" : fmt::format("{:g}", rule.hot);
}

std::vector<std::string> caveats(const ReplayReport& report) {
  std::vector<std::string> out;
  reading_caveats(report.trace.facts, out);
  const std::uint64_t all = report.trace.accesses.size();
  if (report.facts.sized < all) {
    out.push_back(
        fmt::format("The trace has the size of {} values. The others count as {} (--value-size), "
                    "so memory is an estimate.",
                    report.facts.sized == 0 ? "no" : std::to_string(report.facts.sized),
                    format_bytes(report.rules.value_bytes_assumed)));
  }
  if (report.trace.facts.behind_proxy) {
    out.emplace_back(
        "WARNING: this trace was recorded at a server behind heatsink. "
        "The reads that heatsink answered from local copies are missing, so hot keys look cold. "
        "MONITOR through the proxy shows no more. Record at the proxy instead: "
        "'heatsink top --record', or capture packets on the proxy's port.");
  }
  if (report.trace.facts.is_recording) {
    out.push_back(
        "A recording of 'heatsink top' has the rates of hot and warm keys, not single accesses. "
        "The replay spreads accesses evenly between two answers and counts reads as GETs. "
        "It cannot show bursts, keys below warm-qps, or the detector's accuracy. "
        "So copies save more than the report says.");
  }
  if (report.facts.reads > 0) {
    out.push_back(
        fmt::format("{} reads are not {}: they help to make a key hot, "
                    "but the report counts them as reaching the server. "
                    "If the proxy answers some of them from local copies, it saves more.",
                    report.facts.reads, replay::kCopiedRead));
  }
  return out;
}

}  // namespace heatsink::app
