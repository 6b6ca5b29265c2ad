// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "apps/heatsink/replay/report.h"
#include "heatsink/base/printable.h"
#include "heatsink/tui/number.h"
#include "heatsink/tui/text.h"

namespace heatsink::app {
namespace {

using replay::Accuracy;
using replay::Saving;

constexpr int kColumns = 80;
constexpr int kNameColumns = 40;
constexpr std::size_t kKeysShown = 10;

// Wraps words into lines of at most kColumns; the first begins at `indent`, the others at `hang`.
std::string wrapped(const std::string& text, int indent = 0, int hang = 0) {
  std::string out, line(static_cast<std::size_t>(indent), ' ');
  bool empty = true;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const std::string word = text.substr(at, end - at);
    if (!empty && tui::display_width(line) + 1 + tui::display_width(word) > kColumns) {
      out += line + "\n";
      line.assign(static_cast<std::size_t>(hang), ' ');
      empty = true;
    }
    line += (empty ? "" : " ") + word;
    empty = false;
    at = end + 1;
  }
  return out + line + "\n";
}

std::string heading(const std::string& text) {
  return "\n" + text + "\n" + std::string(text.size(), '-') + "\n";
}

std::string rate_of(double hot_qps) { return fmt::format("{:g}/s", hot_qps); }

std::string trace_text(const ReplayReport& report) {
  const replay::TraceFacts& facts = report.facts;
  const replay::Trace& trace = report.trace;
  const double requests = trace.requests();
  std::string out = wrapped(
      fmt::format("heatsink replay: {}: {}, {:.0f} requests to {} keys in {}, {} on average ({})",
                  printable(report.source), trace.facts.format, requests, trace.keys.size(),
                  tui::age_text(trace.duration()), tui::rate_text(facts.rate),
                  trace.facts.timed ? "by its timestamps" : "at the rate of --rate"));
  const auto share = [requests](std::uint64_t count) {
    return tui::percent_text(static_cast<double>(count) / requests);
  };
  std::string line = fmt::format("{} {}, other reads {}, writes {}", replay::kCopiedRead,
                                 share(facts.gets), share(facts.reads), share(facts.writes));
  if (trace.unlisted > 0)
    line += fmt::format("; for {} of the requests only their number is known",
                        tui::percent_text(trace.unlisted / requests));
  for (const std::uint64_t rank : {10ULL, 1000ULL}) {
    if (trace.keys.size() > rank)
      line += fmt::format("; the {} busiest keys have {}", rank,
                          tui::percent_text(facts.share_of(rank)));
  }
  return out + wrapped(line + ".");
}

std::string reasons_text(const std::vector<replay::Reason>& reasons) {
  std::string out;
  for (const replay::Reason& reason : reasons) {
    out += wrapped(fmt::format("{} {}", reason.question, reason.answer));
    out += wrapped(reason.why, 2, 2);
  }
  return out;
}

std::string signed_percent(double ratio) {
  return ratio < 0 ? "-" + tui::percent_text(-ratio) : tui::percent_text(ratio);
}

std::string recommendation_text(const ReplayReport& report) {
  std::string out = heading("Recommendation");
  if (!report.budget.caching) out += no_caching_sentence(report) + "\n";
  out += reasons_text(report.budget.reasons);
  if (!report.budget.caching) return out;
  const replay::EarnedSaving& chosen = report.budget.chosen;
  return out +
         wrapped(fmt::format("With these copies {} "
                             "of the requests{} would not have reached the server. "
                             "The cost: {} fills. No threshold has to be set.",
                             tui::percent_text(chosen.hit_ratio),
                             knows_bytes(report)
                                 ? " and " + tui::percent_text(chosen.bytes_ratio) + " of the bytes"
                                 : "",
                             chosen.fills));
}

std::string copies_table(const ReplayReport& report) {
  std::string out = heading("Requests taken off the server, by the number of copies");
  out +=
      fmt::format("{:>8}{:>9}{:>12}{:>12}{:>9}{:>9}{:>9}{:>12}\n", "copies", "hits", "less fills",
                  "server CPU", "proxy us", "fills", "evicted", memory_title(report));
  for (const replay::EarnedSaving& saving : report.earned) {
    out += fmt::format("{:>8}{:>9}{:>12}{:>12}{:>+9.2f}{:>9}{:>9}{:>12}\n",
                       capacity_text(saving.capacity), tui::percent_text(saving.hit_ratio),
                       signed_percent(saving.net_ratio), signed_percent(saving.server_ratio),
                       saving.proxy_us_spent, tui::count_text(static_cast<double>(saving.fills)),
                       tui::count_text(static_cast<double>(saving.evictions)),
                       tui::size_text(Bytes{saving.bytes_peak}));
  }
  return out;
}

std::string thresholds_text(const ReplayReport& report) {
  const replay::Recommendation& advice = report.recommendation;
  std::string out = heading("Copies of hot keys only (cache.admission: hot)");
  out += reasons_text(advice.reasons);
  if (!advice.caching) return out;
  const Saving& chosen = advice.chosen;
  return out +
         wrapped(fmt::format("With these settings {} "
                             "of the requests{} would not have reached the server. "
                             "The cost: at most {} copies of {} together, and {} refills.",
                             tui::percent_text(chosen.requests_ratio),
                             knows_bytes(report)
                                 ? " and " + tui::percent_text(chosen.bytes_ratio) + " of the bytes"
                                 : "",
                             chosen.tally.entries_peak,
                             tui::size_text(Bytes{chosen.tally.bytes_peak}), chosen.tally.refills));
}

// The mark of a row whose threshold asks for too little evidence, and its legend.
std::string evidence_mark(const replay::Setting& setting) {
  return replay::has_evidence(setting) ? "" : " few";
}

std::string evidence_note(const std::string& table) {
  if (table.find(" few\n") == std::string::npos) return "";
  return fmt::format(
      "few: fewer than {:g} accesses make a key hot there. That can be chance, so it is\n"
      "never recommended.\n",
      replay::kLeastEvidence);
}

std::string capacities_table(const ReplayReport& report) {
  const replay::SavingsGrid& grid = report.grid;
  const std::size_t window = report.chosen_window();
  std::string out = heading(fmt::format("Requests taken off the server, window {}",
                                        format_duration(grid.windows[window])));
  out += fmt::format("{:>12}", "hot-qps");
  for (const replay::Capacity& capacity : grid.capacities)
    out += fmt::format("{:>9}", capacity_text(capacity));
  out += "  copies\n";
  for (std::size_t threshold = 0; threshold < grid.hot_qps.size(); ++threshold) {
    out += fmt::format("{:>12}", rate_of(grid.hot_qps[threshold]));
    for (std::size_t capacity = 0; capacity < grid.capacities.size(); ++capacity) {
      const Saving& saving = report.saving(window, threshold, capacity);
      out += fmt::format("{:>9}", tui::percent_text(saving.requests_ratio));
    }
    out += evidence_mark(report.saving(window, threshold, 0).setting) + "\n";
  }
  return out + evidence_note(out);
}

std::string costs_table(const ReplayReport& report) {
  const replay::SavingsGrid& grid = report.grid;
  const std::size_t capacity = report.chosen_capacity();
  std::string out =
      heading(fmt::format("Cost, capacity {}", capacity_text(grid.capacities[capacity])));
  const bool bytes = knows_bytes(report);
  out +=
      fmt::format("{:>7}{:>10}{:>10}{}{:>12}{:>8}{:>9}{:>9}\n", "window", "hot-qps", "requests",
                  bytes ? "    bytes" : "", memory_title(report), "copies", "refills", "promoted");
  for (std::size_t window = 0; window < grid.windows.size(); ++window) {
    for (std::size_t threshold = 0; threshold < grid.hot_qps.size(); ++threshold) {
      const Saving& saving = report.saving(window, threshold, capacity);
      out += fmt::format("{:>7}{:>10}{:>10}{}{:>12}{:>8}{:>9}{:>9}{}\n",
                         threshold == 0 ? format_duration(grid.windows[window]) : "",
                         rate_of(grid.hot_qps[threshold]), tui::percent_text(saving.requests_ratio),
                         bytes ? fmt::format("{:>9}", tui::percent_text(saving.bytes_ratio)) : "",
                         tui::size_text(Bytes{saving.tally.bytes_peak}), saving.tally.entries_peak,
                         tui::count_text(static_cast<double>(saving.tally.refills)),
                         tui::count_text(static_cast<double>(saving.tally.promotions)),
                         evidence_mark(saving.setting));
    }
  }
  return out + evidence_note(out);
}

std::string keys_text(const ReplayReport& report) {
  std::string out = heading("Busiest keys");
  out += fmt::format("{:<40}{:>10}{:>10}{:>10}\n", "key", "requests", "share", "writes");
  for (const replay::BusyKey& busy : report.facts.busiest) {
    if (&busy == &report.facts.busiest[0] + kKeysShown) break;
    const std::string name = printable(report.trace.keys.name(busy.key));
    out += fmt::format(
        "{}{:>10}{:>10}{:>10}\n", tui::fit(name, kNameColumns), busy.accesses,
        tui::percent_text(static_cast<double>(busy.accesses) / report.trace.requests()),
        tui::percent_text(static_cast<double>(busy.writes) / static_cast<double>(busy.accesses)));
  }
  return out;
}

std::string millis(std::int64_t ns) {
  return fmt::format("{:.0f} ms", static_cast<double>(ns) / 1e6);
}

std::string lives_table(const ReplayReport& report, const Accuracy& accuracy) {
  std::string out = fmt::format("{:<40}{:>9}{:>9}{:>9}{:>10}\n", "hot longest", "since", "hot for",
                                "periods", "at most");
  for (std::size_t i = 0; i < std::min(accuracy.lives.size(), kKeysShown); ++i) {
    const replay::HotLife& life = accuracy.lives[i];
    out += fmt::format("{}{:>9}{:>9}{:>9}{:>10}\n",
                       tui::fit(printable(report.trace.keys.name(life.key)) +
                                    (life.write_hot_ns * 2 > life.hot_ns ? " (write-hot)" : ""),
                                kNameColumns),
                       tui::age_text(Nanos(life.first_ns)), tui::age_text(Nanos(life.hot_ns)),
                       life.periods, tui::rate_text(life.rate_max));
  }
  return out;
}

std::string accuracy_text(const ReplayReport& report) {
  if (!report.accuracy) return "";
  const Accuracy& accuracy = *report.accuracy;
  std::string out =
      heading(fmt::format("The detector against exact counts, hot-qps {}, window {}",
                          judged_text(report), format_duration(report.judged.rule.measure.window)));
  if (accuracy.truly == 0 && accuracy.named == 0) {
    out += "No key was hot, by the detector or by exact counts.\n";
  } else {
    out += wrapped(fmt::format(
        "{} keys were hot; the detector used {} of memory and made {} judgements. "
        "By windows, against exact counts: precision {:.2f} %, recall {:.2f} %. Apart from that, "
        "{:.1f} % of what the detector called hot had fewer accesses in the window "
        "than the threshold asks for: "
        "a key stays hot a while (hysteresis), and a burst is hot at once.",
        accuracy.lives.size(), tui::size_text(Bytes{accuracy.memory_bytes}), accuracy.judgements,
        accuracy.precision() * 100, accuracy.recall() * 100, accuracy.lasting_part() * 100));
    if (const std::string why = missed_sentence(report); !why.empty()) out += wrapped(why);
    out += wrapped(fmt::format(
        "Time to detect, from the access that made a key hot: p50 {}, p99 {}, longest {}, "
        "with a check at most every {}. {} keys cooled down before they were named.",
        millis(replay::quantile(accuracy.detection_ns, 0.5)),
        millis(replay::quantile(accuracy.detection_ns, 0.99)),
        millis(replay::quantile(accuracy.detection_ns, 1)), millis(accuracy.urgent_gap.count()),
        accuracy.missed));
  }
  out +=
      wrapped(fmt::format("The 100 busiest keys named: P@100 {:.2f} %, mean rate error {:.3f} %, "
                          "true counts outside their bounds: {} of {}.",
                          accuracy.top_precision() * 100, accuracy.rate_error() * 100,
                          accuracy.bounds_broken, accuracy.top_asked));
  if (!accuracy.lives.empty()) out += "\n" + lives_table(report, accuracy);
  return out;
}

}  // namespace

std::string report_text(const ReplayReport& report) {
  std::string out = trace_text(report) + recommendation_text(report) + copies_table(report);
  if (report.has_thresholds())
    out += thresholds_text(report) + capacities_table(report) + costs_table(report);
  out += keys_text(report) + accuracy_text(report);
  const std::vector<std::string> notes = caveats(report);
  if (notes.empty()) return out;
  out += heading("Notes");
  for (const std::string& note : notes) out += wrapped("* " + note, 0, 2);
  return out;
}

}  // namespace heatsink::app
