// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/history/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <string_view>
#include <tuple>
#include <utility>

#include "apps/heatsink/history/moment_text.h"
#include "heatsink/base/printable.h"
#include "heatsink/base/units.h"
#include "heatsink/heat/heat_map.h"
#include "heatsink/heat/scale.h"
#include "heatsink/tui/number.h"
#include "heatsink/tui/text.h"

namespace heatsink::app {
namespace {

constexpr std::size_t kEventLines = 200;

// A mean over the counted seconds in which the figure is known.
class Mean {
 public:
  void add(double value, double seconds) {
    if (std::isnan(value)) return;
    sum_ += value * seconds;
    seconds_ += seconds;
  }
  double value() const {
    return seconds_ > 0 ? sum_ / seconds_ : std::numeric_limits<double>::quiet_NaN();
  }

 private:
  double sum_ = 0, seconds_ = 0;
};

void add_totals(const heat::HeatMap& map, heat::Kind kind, HistoryAnswer& out) {
  std::array<Mean, std::tuple_size_v<heat::PackedTotals>> means;
  for (const heat::HeatMap::Step& step : map.steps) {
    out.counted_s += step.seconds;
    for (std::size_t i = 0; i < step.totals.size(); ++i)
      means[i].add(static_cast<double>(step.totals[i]), step.seconds);
    out.requests_max = std::max(out.requests_max, static_cast<double>(step.requests_max));
    if (!std::isnan(step.totals[7]))
      out.latency_p99_max_s = std::max(out.latency_p99_max_s, static_cast<double>(step.totals[7]));
  }
  out.requests = means[0].value();
  out.reads = means[1].value();
  out.writes = means[2].value();
  out.hits = means[3].value();
  out.commands = means[4].value();
  out.server_commands = means[5].value();
  out.latency_p50_s = means[6].value();
  out.bytes = means[heat::kBytesAt].value();
  out.server_cpu = means[heat::kServerCpuAt].value();
  out.server_cpu_spared = means[heat::kServerCpuSparedAt].value();
  out.total = means[heat::total_of(kind)].value();
}

// The part of the time that each step is in.
std::vector<std::size_t> parts_of(const HistoryQuestion& question, const heat::HeatMap& map,
                                  HistoryAnswer& out) {
  using std::chrono::seconds;
  const std::int64_t step_s = std::max<std::int64_t>(out.step_s, 1);
  const auto first = std::chrono::floor<seconds>(question.from);
  const std::int64_t whole_s =
      std::max<std::int64_t>((std::chrono::ceil<seconds>(question.to) - first).count(), 1);
  constexpr auto kTimes = static_cast<std::int64_t>(HistoryAnswer::kTimes);
  const std::int64_t part_s =
      std::max((whole_s + kTimes * step_s - 1) / (kTimes * step_s), std::int64_t{1}) * step_s;
  for (std::int64_t at = 0; at < whole_s; at += part_s) out.times.emplace_back(first + seconds(at));
  std::vector<std::size_t> parts;
  for (const heat::HeatMap::Step& step : map.steps) {
    const WallTime begin(
        std::chrono::duration_cast<WallTime::duration>(step.begin.time_since_epoch()));
    const std::int64_t since = std::chrono::floor<seconds>(begin - first).count();
    const auto part = static_cast<std::size_t>(std::max<std::int64_t>(since, 0) / part_s);
    parts.push_back(std::min(part, out.times.size() - 1));
  }
  return parts;
}

// The part of what all hits spared that these hits are. NaN: not known.
double cpu_spared(const heat::PackedTotals& totals, double hits) {
  const auto all = static_cast<double>(totals[heat::kHitsAt]);
  const auto spared = static_cast<double>(totals[heat::kServerCpuSparedAt]);
  if (std::isnan(spared) || !(hits > 0) || !(all > 0)) return std::isnan(spared) ? spared : 0;
  return spared * hits / all;
}

// A step in which the total of the row's kind is not known has counted nothing of that kind.
HistoryAnswer::Row row_of(const heat::HeatMap& map, const heat::HeatMap::Row& row,
                          const std::vector<std::size_t>& parts, std::size_t times) {
  HistoryAnswer::Row out{.identity = row.identity, .over_time = {}};
  Mean rate, writes, hits, bytes, spared;
  std::vector<Mean> over_time(times);
  const std::size_t total = heat::total_of(row.identity.kind);
  for (std::size_t i = 0; i < map.steps.size(); ++i) {
    const double seconds = map.steps[i].seconds;
    const heat::PackedTotals& totals = map.steps[i].totals;
    if (std::isnan(totals[total])) continue;
    const double mean = heat::rate_of(row.mean[i]);
    rate.add(mean, seconds);
    writes.add(heat::rate_of(row.writes[i]), seconds);
    hits.add(heat::rate_of(row.hits[i]), seconds);
    if (!std::isnan(totals[heat::kBytesAt])) bytes.add(heat::bytes_of(row.bytes[i]), seconds);
    spared.add(cpu_spared(totals, heat::rate_of(row.hits[i])), seconds);
    over_time[parts[i]].add(mean, seconds);
    out.rate_max = std::max(out.rate_max, heat::rate_of(row.max[i]));
  }
  out.rate = rate.value();
  out.writes = writes.value();
  out.hits = hits.value();
  out.bytes = bytes.value();
  out.server_cpu_spared = spared.value();
  for (const Mean& mean : over_time) out.over_time.push_back(mean.value());
  return out;
}

std::string rate_or_nothing(double rate) { return rate > 0 ? tui::rate_text(rate) : ""; }

std::string name_of(const heat::Identity& identity) {
  std::string name = printable(identity.name, heat::Identity::kBytesMax);
  if (identity.is_cut) name += "...";
  if (identity.db != 0) name += fmt::format(" (db {})", identity.db);
  return name;
}

std::string latency(double seconds) {
  return tui::latency_text(
      std::chrono::duration_cast<Nanos>(std::chrono::duration<double>(seconds)));
}

std::string head_text(const HistoryQuestion& question, const HistoryAnswer& answer) {
  const auto whole_s =
      std::chrono::duration_cast<std::chrono::seconds>(question.to - question.from).count();
  std::string out =
      fmt::format("{} to {} ({}): {} of {} s counted, in steps of {}\n", day_text(question.from),
                  day_text(question.to), zone_text(question.from), answer.counted_s, whole_s,
                  format_duration(std::chrono::seconds(answer.step_s)));
  out += fmt::format("requests  {}, {} in the busiest second; {} of them reads\n",
                     tui::rate_text(answer.requests), tui::rate_text(answer.requests_max),
                     tui::percent_text(answer.reads / std::max(answer.requests, 1e-9)));
  if (!std::isnan(answer.latency_p50_s))
    out += fmt::format("latency   {} (median), {} in the worst step (99 of 100)\n",
                       latency(answer.latency_p50_s), latency(answer.latency_p99_max_s));
  out += fmt::format("copies    answered {} of the reads\n",
                     tui::percent_text(answer.hits / std::max(answer.reads, 1e-9)));
  if (!std::isnan(answer.commands) && !std::isnan(answer.server_commands) && answer.commands > 0) {
    const double saved = 1 - answer.server_commands / answer.commands;
    out += fmt::format("servers   got {} commands instead of {}: {} {}\n",
                       tui::rate_text(answer.server_commands), tui::rate_text(answer.commands),
                       tui::percent_text(std::abs(saved)), saved >= 0 ? "less" : "more");
  }
  if (answer.bytes > 0)
    out += fmt::format("bytes     {}B/s read and written\n", tui::count_text(answer.bytes));
  if (answer.server_cpu > 0)
    out += fmt::format("CPU       the servers used {} of a core; copies spared them about {}\n",
                       tui::percent_text(answer.server_cpu),
                       tui::signed_percent_text(answer.server_cpu_spared));
  return out;
}

// The columns of the table: those that the rows of the kind have, and that are known.
class Columns {
 public:
  Columns(const HistoryQuestion& question, const HistoryAnswer& answer)
      : has_accesses_(question.kind == heat::Kind::kKey || question.kind == heat::Kind::kTemplate),
        has_bytes_(has_accesses_ && answer.bytes > 0),
        has_cpu_(has_accesses_ && answer.server_cpu + std::abs(answer.server_cpu_spared) > 0),
        all_(std::max(answer.total, 1e-9)) {}

  std::string head(const char* name) const {
    return line("RATE", "SHARE", "HIGHEST", "WRITES", "HITS", "BYTES", "CPU SAVED", "WHEN", name);
  }
  std::string line_of(const HistoryAnswer::Row& row) const {
    const double reads = std::max(row.rate - row.writes, 1e-9);
    double top = 0;
    for (const double rate : row.over_time)
      if (rate > top) top = rate;  // NaN is not
    const std::string bytes = row.bytes > 0 ? tui::count_text(row.bytes) + "B/s" : "";
    const bool spared = std::abs(row.server_cpu_spared) > 0;
    return line(tui::rate_text(row.rate), share(row.rate), tui::rate_text(row.rate_max),
                rate_or_nothing(row.writes),
                row.hits > 0 ? tui::percent_text(std::min(row.hits / reads, 1.0)) : "", bytes,
                spared ? tui::signed_percent_text(row.server_cpu_spared) : "",
                tui::sparkline(row.over_time, top, static_cast<int>(row.over_time.size())) +
                    std::string(HistoryAnswer::kTimes - row.over_time.size(), ' '),
                tui::safe_text(name_of(row.identity)));
  }
  std::string line_of_others(double rate, std::string_view name) const {
    return line(tui::rate_text(rate), share(rate), "", "", "", "", "", "", name);
  }

 private:
  std::string share(double rate) const { return tui::percent_text(std::min(rate / all_, 1.0)); }
  std::string line(std::string_view rate, std::string_view share, std::string_view highest,
                   std::string_view writes, std::string_view hits, std::string_view bytes,
                   std::string_view cpu, std::string_view when, std::string_view name) const {
    std::string out = fmt::format("{:>8} {:>7} {:>8}", rate, share, highest);
    if (has_accesses_) out += fmt::format(" {:>8} {:>7}", writes, hits);
    if (has_bytes_) out += fmt::format(" {:>8}", bytes);
    if (has_cpu_) out += fmt::format(" {:>9}", cpu);
    return out + fmt::format("  {:<{}}  {}\n", when, HistoryAnswer::kTimes, name);
  }

  bool has_accesses_, has_bytes_, has_cpu_;
  double all_;
};

struct KindWords {
  const char *head, *one, *others;
};
KindWords words_of(heat::Kind kind) {
  switch (kind) {
    case heat::Kind::kKey:
      return {"KEY", "A key", "all other keys"};
    case heat::Kind::kTemplate:
      return {"TEMPLATE", "A template", "all other templates"};
    case heat::Kind::kSlot:
      return {"SLOT", "A slot", "all other slots"};
    case heat::Kind::kNode:
      return {"NODE", "A node", "all other nodes"};
    case heat::Kind::kClient:
      return {"CLIENT", "A client", "all other clients"};
  }
  return {};
}

std::string table_text(const HistoryQuestion& question, const HistoryAnswer& answer) {
  const KindWords words = words_of(question.kind);
  const Columns columns(question, answer);
  std::string out = "\n" + columns.head(words.head);
  for (const HistoryAnswer::Row& row : answer.rows) out += columns.line_of(row);
  if (question.key) return out;
  out += columns.line_of_others(answer.others, words.others);
  if (!std::isnan(answer.others_max) && answer.others_max > 0)
    out += fmt::format("\n{} that a step does not name had at most {} in it.\n", words.one,
                       tui::rate_text(answer.others_max));
  return out;
}

// Why there is no row.
std::string no_rows_text(const HistoryQuestion& question, const HistoryAnswer& answer) {
  if (question.key)
    return fmt::format("\n{} was not among the busiest: it had at most {} at any time\n",
                       tui::safe_text(printable(*question.key)), tui::rate_text(answer.others_max));
  switch (question.kind) {
    case heat::Kind::kSlot:
    case heat::Kind::kNode:
      if (std::isnan(answer.total)) return "\nthe server was no cluster, so it has no nodes\n";
      return question.kind == heat::Kind::kNode ? "\nno command to a node was counted\n"
                                                : "\nno slot had a thousandth of the commands\n";
    case heat::Kind::kClient:
      if (std::isnan(answer.total)) return "\nclients were not counted then\n";
      [[fallthrough]];
    case heat::Kind::kKey:
    case heat::Kind::kTemplate:
      break;
  }
  return table_text(question, answer);
}

// One key: each part of the time is a line.
std::string course_text(const HistoryAnswer& answer) {
  std::string out = "\n";
  for (const HistoryAnswer::Row& row : answer.rows) {
    for (std::size_t i = 0; i < answer.times.size(); ++i) {
      const double rate = row.over_time[i];
      out += fmt::format("{}  {:>8}  {}\n", day_text(answer.times[i]),
                         std::isnan(rate) ? "-" : tui::rate_text(rate),
                         tui::safe_text(name_of(row.identity)));
    }
  }
  return out;
}

std::string events_text(const HistoryAnswer& answer) {
  if (answer.events.empty()) return "\nno events\n";
  std::string out = "\n";
  const std::size_t first = answer.events.size() - std::min(answer.events.size(), kEventLines);
  if (first > 0) out += fmt::format("{} earlier events; --json has them\n", first);
  for (std::size_t i = first; i < answer.events.size(); ++i) {
    const history::KeptEvent& event = answer.events[i];
    const std::string name =
        event.has_key ? event.name + (event.db == 0 ? "" : fmt::format(" (db {})", event.db)) + ": "
                      : std::string();
    out += fmt::format("{}  {:<14}  {}\n", day_text(event.at), tui::safe_text(event.what),
                       tui::safe_text(name + event.reason));
  }
  return out;
}

}  // namespace

HistoryAnswer summarize(const HistoryQuestion& question, const heat::HeatMap& map) {
  HistoryAnswer out;
  out.step_s = std::chrono::duration_cast<std::chrono::seconds>(map.step).count();
  add_totals(map, question.kind, out);
  const std::vector<std::size_t> parts = parts_of(question, map, out);
  out.others = out.total;
  for (const heat::HeatMap::Row& row : map.rows) {
    // Without any total there is no rate: only a file from elsewhere has such rows.
    if (row.identity.kind != question.kind || std::isnan(out.total)) continue;
    if (out.rows.size() == question.rows) break;
    out.rows.push_back(row_of(map, row, parts, out.times.size()));
    out.others -= out.rows.back().rate;
  }
  out.others = std::max(out.others, 0.0);
  for (const heat::HeatMap::Step& step : map.steps)
    out.others_max =
        std::max(out.others_max,
                 static_cast<double>(step.unnamed_max[static_cast<std::size_t>(question.kind)]));
  return out;
}

Result<HistoryAnswer> answer(const HistoryQuestion& question) {
  const history::Range range{.from = question.from,
                             .to = question.to - std::chrono::seconds(1),
                             .rows_max = heat::kRowsMax,
                             .kind = question.kind,
                             .key = question.key,
                             .db = question.db};
  const Result<heat::HeatMap> map = history::read_heat(question.path, range);
  if (!map.ok()) return map.error();
  HistoryAnswer out = summarize(question, *map);
  Result<std::vector<history::KeptEvent>> events = history::read_events(question.path, range);
  if (!events.ok()) return events.error();
  out.events = std::move(events).value();
  Result<std::optional<history::Kept>> kept = history::read_kept(question.path);
  if (!kept.ok()) return kept.error();
  out.kept = *kept;
  return out;
}

std::string history_text(const HistoryQuestion& question, const HistoryAnswer& answer) {
  if (answer.counted_s == 0) {
    std::string out = fmt::format("{} to {} ({}): nothing was counted\n", day_text(question.from),
                                  day_text(question.to), zone_text(question.from));
    out += answer.kept ? fmt::format("the file has {} to {}\n", day_text(answer.kept->from),
                                     day_text(answer.kept->to))
                       : std::string("the file has no counts yet\n");
    return answer.events.empty() ? out : out + events_text(answer);
  }
  std::string out = head_text(question, answer);
  out += answer.rows.empty() ? no_rows_text(question, answer) : table_text(question, answer);
  if (question.key && !answer.rows.empty()) out += course_text(answer);
  return out + events_text(answer);
}

}  // namespace heatsink::app
