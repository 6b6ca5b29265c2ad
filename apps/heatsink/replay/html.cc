// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>

#include "apps/heatsink/replay/report.h"
#include "apps/heatsink/replay/svg.h"
#include "heatsink/base/printable.h"
#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

using replay::Saving;

// Colours that people with red-green blindness can distinguish (Okabe and Ito, 2008).
constexpr std::string_view kStyle = R"(<style>
:root { color-scheme: light dark; --ink: #1b1b1b; --paper: #fff; --faint: #8885; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --paper: #16181c; } }
body { font: 15px/1.45 system-ui, sans-serif; color: var(--ink); background: var(--paper);
  max-width: 60rem; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.4rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: .15rem .6rem; text-align: right; border-bottom: 1px solid var(--faint); }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere; }
.chosen { font-weight: bold; outline: 2px solid #0072b2; }
svg { width: 100%; height: auto; } svg text { fill: var(--ink); font-size: 12px; }
svg .grid { stroke: var(--faint); } svg polyline { fill: none; stroke-width: 2; }
.s0 { stroke: #0072b2; } .s1 { stroke: #e69f00; stroke-dasharray: 6 3; } .s2 { stroke: #009e73; }
.s3 { stroke: #cc79a7; } .s4 { stroke: #56b4e9; } .s5 { stroke: #d55e00; }
.s6 { stroke: #999; } .s7 { stroke: #7a5fff; }
.s8 { stroke: #b8860b; stroke-dasharray: 2 3; } .s9 { stroke: #0072b2; stroke-dasharray: 8 3 2 3; }
@media (prefers-color-scheme: dark) { .s0, .s9 { stroke: #4da3e0; } }
</style>
)";

std::string cell(std::string_view text, bool chosen = false) {
  return fmt::format("<td{}>{}</td>", chosen ? " class=\"chosen\"" : "", escaped(text));
}

std::string header_row(const std::vector<std::string>& titles) {
  std::string out = "<tr>";
  for (const std::string& title : titles) out += "<th>" + escaped(title) + "</th>";
  return out + "</tr>\n";
}

std::string figure(const Plot& plot) {
  return "<h2>" + escaped(plot.title) + "</h2>\n" + svg(plot);
}

std::string reasons_list(const std::vector<replay::Reason>& reasons) {
  std::string out = "<dl>\n";
  for (const replay::Reason& reason : reasons)
    out += fmt::format("<dt>{} <strong>{}</strong></dt><dd>{}</dd>\n", escaped(reason.question),
                       escaped(reason.answer), escaped(reason.why));
  return out + "</dl>\n";
}

std::string summary(const ReplayReport& report) {
  std::string out = fmt::format(
      "<h1>heatsink replay: {}</h1>\n"
      "<p>{}, {:.0f} requests to {} keys in {}, {} on average ({}).</p>\n",
      escaped(printable(report.source)), escaped(report.trace.facts.format),
      report.trace.requests(), report.trace.keys.size(), tui::age_text(report.trace.duration()),
      tui::rate_text(report.facts.rate),
      report.trace.facts.timed ? "by its timestamps" : "at the rate of --rate");
  out += "<h2>Recommendation</h2>\n";
  if (!report.budget.caching)
    out += "<p><strong>" + no_caching_sentence(report) + "</strong></p>\n";
  return out + reasons_list(report.budget.reasons);
}

// The load that copies take off the server. Capacities in copies or in bytes, whichever there are
// more of.
Plot copies_plot(const ReplayReport& report) {
  const auto is_bytes = [](const replay::EarnedSaving& saving) {
    return saving.capacity.bytes_max < replay::kNoByteLimit;
  };
  const auto in_bytes = std::count_if(report.earned.begin(), report.earned.end(), is_bytes);
  const bool bytes = static_cast<std::size_t>(in_bytes) * 2 > report.earned.size();
  Plot plot{"What copies take off the server",
            bytes ? "bytes of copies (logarithmic)" : "copies (logarithmic)",
            "requests",
            true,
            true,
            {}};
  PlotLine hits{"hits", {}}, net{"less the commands of fills", {}};
  for (const replay::EarnedSaving& saving : report.earned) {
    if (is_bytes(saving) != bytes) continue;
    const double x = bytes ? static_cast<double>(saving.capacity.bytes_max.count)
                           : static_cast<double>(saving.capacity.entries_max);
    hits.points.push_back({x, saving.hit_ratio});
    net.points.push_back({x, std::max(saving.net_ratio, 0.0)});
  }
  for (PlotLine* line : {&hits, &net})
    std::sort(line->points.begin(), line->points.end(),
              [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
  plot.lines = {std::move(hits), std::move(net)};
  return plot;
}

std::string earned_table(const ReplayReport& report) {
  std::string out =
      "<h2>Requests taken off the server, by the number of copies</h2>\n<table>\n" +
      header_row({"copies", "hits", "less fills", "fills", "evicted", memory_title(report)});
  for (const replay::EarnedSaving& saving : report.earned) {
    out += "<tr>" +
           cell(capacity_text(saving.capacity),
                saving.capacity == report.budget.chosen.capacity && report.budget.caching) +
           cell(tui::percent_text(saving.hit_ratio)) +
           cell(fmt::format("{:.1f} %", saving.net_ratio * 100)) +
           cell(std::to_string(saving.fills)) + cell(std::to_string(saving.evictions)) +
           cell(tui::size_text(Bytes{saving.bytes_peak})) + "</tr>\n";
  }
  return out + "</table>\n";
}

Plot hot_plot(const replay::Accuracy& accuracy) {
  Plot plot{"Hot keys over time", "seconds", "hot keys", false, false, {}};
  PlotLine named{"named", {}}, truly{"exact counts", {}};
  for (const replay::HotMoment& moment : accuracy.moments) {
    const double seconds = static_cast<double>(moment.at_ns) / 1e9;
    named.points.push_back({seconds, static_cast<double>(moment.named)});
    truly.points.push_back({seconds, static_cast<double>(moment.truly)});
  }
  plot.lines = {std::move(named), std::move(truly)};
  return plot;
}

// Plots capacities in copies or in bytes, whichever the grid has more of.
Plot savings_plot(const ReplayReport& report) {
  const auto& capacities = report.grid.capacities;
  const auto in_bytes = std::count_if(capacities.begin(), capacities.end(), [](const auto& c) {
    return c.bytes_max < replay::kNoByteLimit;
  });
  const bool bytes = static_cast<std::size_t>(in_bytes) * 2 > capacities.size();
  const std::size_t window = report.chosen_window();
  Plot plot{"Savings against capacity, window " + format_duration(report.grid.windows[window]),
            bytes ? "bytes of copies (logarithmic)" : "copies (logarithmic)",
            "requests saved",
            true,
            true,
            {}};
  for (std::size_t i = 0; i < report.grid.hot_qps.size(); ++i) {
    PlotLine line{fmt::format("hot-qps {:g}", report.grid.hot_qps[i]), {}};
    for (std::size_t j = 0; j < capacities.size(); ++j) {
      if ((capacities[j].bytes_max < replay::kNoByteLimit) != bytes) continue;
      const double x = bytes ? static_cast<double>(capacities[j].bytes_max.count)
                             : static_cast<double>(capacities[j].entries_max);
      line.points.push_back({x, report.saving(window, i, j).requests_ratio});
    }
    std::sort(line.points.begin(), line.points.end(),
              [](const PlotPoint& a, const PlotPoint& b) { return a.x < b.x; });
    plot.lines.push_back(std::move(line));
  }
  return plot;
}

Plot share_plot(const replay::TraceFacts& facts) {
  Plot plot{"How unequal the keys are",
            "number of busiest keys (logarithmic)",
            "share of all requests",
            true,
            true,
            {}};
  PlotLine line{"requests", {}};
  for (const replay::SharePoint& point : facts.share_curve)
    line.points.push_back({static_cast<double>(point.rank), point.share});
  plot.lines.push_back(std::move(line));
  return plot;
}

// If the next smaller capacity had room for all keys, this one gives the same result.
bool is_like_before(const ReplayReport& report, std::size_t place) {
  if (place % report.grid.capacities.size() == 0) return false;
  const replay::CopyTally& tally = report.savings[place].tally;
  const replay::CopyTally& before = report.savings[place - 1].tally;
  return tally.hits == before.hits && tally.promotions == before.promotions &&
         tally.fills == before.fills;
}

std::string savings_table(const ReplayReport& report) {
  std::string out = "<h2>Copies of hot keys only (cache.admission: hot)</h2>\n" +
                    reasons_list(report.recommendation.reasons) + "<table>\n";
  const bool bytes = knows_bytes(report);
  std::vector<std::string> titles{"window", "hot-qps", "capacity", "requests"};
  if (bytes) titles.emplace_back("bytes");
  titles.insert(titles.end(), {memory_title(report), "copies", "refills", "promotions"});
  out += header_row(titles);
  const replay::Setting& chosen = report.recommendation.chosen.setting;
  for (std::size_t place = 0; place < report.savings.size(); ++place) {
    const Saving& saving = report.savings[place];
    const replay::Setting& setting = saving.setting;
    const bool is_chosen = setting.window == chosen.window && setting.hot_qps == chosen.hot_qps &&
                           setting.capacity == chosen.capacity && report.recommendation.caching;
    if (!is_chosen && (saving.tally.promotions == 0 || is_like_before(report, place))) continue;
    out += "<tr>" + cell(format_duration(setting.window), is_chosen) +
           cell(fmt::format("{:g}/s{}", setting.hot_qps,
                            replay::has_evidence(setting) ? "" : " (few)")) +
           cell(capacity_text(setting.capacity)) + cell(tui::percent_text(saving.requests_ratio)) +
           (bytes ? cell(tui::percent_text(saving.bytes_ratio)) : "") +
           cell(tui::size_text(Bytes{saving.tally.bytes_peak})) +
           cell(std::to_string(saving.tally.entries_peak)) +
           cell(std::to_string(saving.tally.refills)) +
           cell(std::to_string(saving.tally.promotions)) + "</tr>\n";
  }
  return out +
         "</table>\n<p>The table leaves out settings under which no key was hot, "
         "and capacities that change nothing any more. " +
         fmt::format(
             "(few): fewer than {:g} accesses make a key hot there. "
             "That can be chance, so it is never recommended.</p>\n",
             replay::kLeastEvidence);
}

std::string keys_table(const ReplayReport& report) {
  std::string out = "<h2>Busiest keys</h2>\n<table>\n";
  out += header_row({"key", "requests", "share", "writes"});
  for (const replay::BusyKey& busy : report.facts.busiest) {
    out += "<tr>" + cell(printable(report.trace.keys.name(busy.key))) +
           cell(std::to_string(busy.accesses)) +
           cell(tui::percent_text(static_cast<double>(busy.accesses) / report.trace.requests())) +
           cell(std::to_string(busy.writes)) + "</tr>\n";
  }
  return out + "</table>\n";
}

std::string accuracy_lines(const ReplayReport& report, const replay::Accuracy& accuracy) {
  const auto millis = [&accuracy](double q) {
    return static_cast<double>(replay::quantile(accuracy.detection_ns, q)) / 1e6;
  };
  return fmt::format(
             "<h2>The detector against exact counts</h2>\n<p>hot-qps {}, window {}: "
             "by windows, precision {:.2f} %, recall {:.2f} %; apart from that, "
             "{:.1f} % of what the detector called hot had fewer accesses in the window "
             "than the threshold asks for. "
             "P@100 {:.2f} %, mean rate error of the top 100 {:.3f} %, "
             "time to detect p50 {:.0f} ms, p99 {:.0f} ms; {} keys were hot.</p>\n",
             judged_text(report), format_duration(report.judged.rule.measure.window),
             accuracy.precision() * 100, accuracy.recall() * 100, accuracy.lasting_part() * 100,
             accuracy.top_precision() * 100, accuracy.rate_error() * 100, millis(0.5), millis(0.99),
             accuracy.lives.size()) +
         "<p>" + escaped(missed_sentence(report)) + "</p>\n";
}

}  // namespace

std::string report_html(const ReplayReport& report) {
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n"
      "<meta name=\"viewport\" content=\"width=device-width\"/>\n<title>heatsink replay</title>\n";
  out += kStyle;
  out += "</head>\n<body>\n" + summary(report) + figure(copies_plot(report));
  if (report.accuracy) out += figure(hot_plot(*report.accuracy));
  out += figure(share_plot(report.facts)) + earned_table(report);
  if (report.has_thresholds()) out += figure(savings_plot(report)) + savings_table(report);
  out += keys_table(report);
  if (report.accuracy) out += accuracy_lines(report, *report.accuracy);
  const std::vector<std::string> notes = caveats(report);
  if (!notes.empty()) out += "<h2>Notes</h2>\n<ul>\n";
  for (const std::string& note : notes) out += "<li>" + escaped(note) + "</li>\n";
  if (!notes.empty()) out += "</ul>\n";
  return out + "</body>\n</html>\n";
}

}  // namespace heatsink::app
