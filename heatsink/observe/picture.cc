// SPDX-License-Identifier: Apache-2.0
#include "heatsink/observe/picture.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "heatsink/observe/rows.h"
#include "heatsink/report/report.h"

namespace heatsink::observe {
namespace {

constexpr std::size_t kNotesMax = 8;

struct Placed {
  report::KeyReport key;
  std::string node;
};

int liveliness(SourceState state) {
  switch (state) {
    case SourceState::kRunning:
      return 3;
    case SourceState::kStarting:
      return 2;
    case SourceState::kFinished:
      return 1;
    case SourceState::kFailed:
      break;
  }
  return 0;
}

// A share of the node's requests becomes a share of the cluster's. Other shares stay.
void rescale(detect::Verdict& key, double of_node, double of_all) {
  const bool of_requests = key.measure.dimension == detect::Dimension::kRequests &&
                           std::isfinite(key.share) && of_node > 0 && of_all > 0;
  if (of_requests) key.share *= of_node / of_all;
}

void add_totals(const report::Report& node, report::Report& out) {
  out.at = std::max(out.at, node.at);
  out.window = std::max(out.window, node.window);
  out.uptime = std::max(out.uptime, node.uptime);
  out.upstream_up = out.upstream_up || node.upstream_up;
  out.requests_rate += node.requests_rate;
  out.reads_rate += node.reads_rate;
  out.writes_rate += node.writes_rate;
  out.misses_rate += node.misses_rate;
  out.clients = std::max(out.clients, node.clients);
  out.hot = std::max(out.hot, node.hot);
  out.warm = std::max(out.warm, node.warm);
}

// The bound for a key that no node lists is the highest of all nodes; unknown if one node has none.
std::optional<double> absent_max_of(const std::vector<NodeObservation>& all) {
  std::optional<double> most = 0;
  for (const NodeObservation& each : all) {
    const auto& here = each.seen.report.absent_max;
    if (!here) return std::nullopt;
    most = std::max(*most, *here);
  }
  return most;
}

// One node's traffic that no window showed may be one key's.
std::optional<double> unseen_rate_of(const std::vector<NodeObservation>& all) {
  std::optional<double> most;
  for (const NodeObservation& each : all) {
    const auto& here = each.seen.report.unseen_rate;
    if (here) most = std::max(most.value_or(0), *here);
  }
  return most;
}

std::string undecided_of(const std::vector<NodeObservation>& all) {
  const auto first = std::ranges::find_if(
      all, [](const NodeObservation& each) { return !each.seen.report.undecided.empty(); });
  return first == all.end() ? "" : first->node + ": " + first->seen.report.undecided;
}

std::vector<Placed> placed_rows(std::vector<NodeObservation>& all, double of_all) {
  std::vector<Placed> rows;
  for (NodeObservation& each : all) {
    for (report::KeyReport& key : each.seen.report.keys) {
      rescale(key.verdict, each.seen.report.requests_rate, of_all);
      rows.push_back({std::move(key), each.node});
    }
  }
  std::ranges::stable_sort(rows, std::ranges::greater{},
                           [](const Placed& row) { return row.key.verdict.rate; });
  return rows;
}

// Each note once, with the names of its nodes.
std::string joined_notes(const std::vector<NodeObservation>& all) {
  std::vector<std::pair<std::string, std::string>> notes;  // note, nodes
  for (const NodeObservation& each : all) {
    if (each.seen.note.empty()) continue;
    const auto known =
        std::ranges::find(notes, each.seen.note, &std::pair<std::string, std::string>::first);
    if (known != notes.end())
      known->second += ", " + each.node;
    else
      notes.emplace_back(each.seen.note, each.node);
  }
  if (notes.size() == 1 && all.size() > 1 &&
      std::ranges::all_of(all, [](const NodeObservation& each) { return !each.seen.note.empty(); }))
    return "each node: " + notes.front().first;
  std::string out;
  for (std::size_t i = 0; i < std::min(notes.size(), kNotesMax); ++i)
    out += fmt::format("{}{}: {}", i == 0 ? "" : "; ", notes[i].second, notes[i].first);
  return out;
}

// The first trouble; "" if at least one node has none.
std::string joined_trouble(const std::vector<NodeObservation>& all) {
  const auto fine = std::ranges::any_of(
      all, [](const NodeObservation& each) { return each.seen.trouble.empty(); });
  return fine ? "" : all.front().seen.trouble;
}

std::optional<Interval> joined_interval(const std::vector<NodeObservation>& all) {
  std::optional<Interval> out = all.front().seen.interval;
  for (const NodeObservation& each : all) {
    if (!out || !each.seen.interval) return std::nullopt;
    out->since = std::min(out->since, each.seen.interval->since);
    out->until = std::max(out->until, each.seen.interval->until);
  }
  return out;
}

// Slots are ordered by rate, which is comparable between nodes; without rates by their share of
// the CPU time of their own node.
double busy(const SlotSeen& slot) {
  if (!std::isnan(slot.rate)) return slot.rate;
  return std::isnan(slot.cpu_share) ? 0 : slot.cpu_share;
}

std::vector<SlotSeen> joined_slots(std::vector<NodeObservation>& all) {
  std::vector<SlotSeen> out;
  for (NodeObservation& each : all) {
    for (SlotSeen& slot : each.seen.slots) {
      slot.node = each.node;
      out.push_back(std::move(slot));
    }
  }
  std::ranges::stable_sort(out, std::ranges::greater{}, busy);
  return out;
}

double joined_progress(const std::vector<NodeObservation>& all) {
  double done = 0, work = 0;
  for (const NodeObservation& each : all) {
    if (each.seen.progress < 0) return -1;
    const double weight = std::max(each.seen.work, 1.0);
    done += each.seen.progress * weight;
    work += weight;
  }
  return done / work;
}

}  // namespace

Observation join_nodes(std::vector<NodeObservation> all, std::string upstream) {
  Observation out;
  const auto best = std::ranges::max_element(
      all, {}, [](const NodeObservation& each) { return liveliness(each.seen.state); });
  out.state = best->seen.state;
  out.facts = best->seen.facts;
  if (all.size() > 1)
    out.facts.cost = fmt::format("on each of {} nodes: {}", all.size(), out.facts.cost);
  out.note = joined_notes(all);
  out.trouble = joined_trouble(all);
  out.progress = joined_progress(all);
  out.interval = joined_interval(all);
  report::Report& report = out.report;
  report = best->seen.report;
  report.keys.clear();
  report.requests_rate = report.reads_rate = report.writes_rate = report.misses_rate = 0;
  for (const NodeObservation& each : all) add_totals(each.seen.report, report);
  report.upstream = std::move(upstream);
  report.absent_max = absent_max_of(all);
  report.unseen_rate = unseen_rate_of(all);
  report.undecided = undecided_of(all);
  out.may_be_pause =
      std::ranges::any_of(all, [](const NodeObservation& each) { return each.seen.may_be_pause; });
  if (all.size() > 1) report.templates.reset();  // another node's may be the busiest
  report.hot_keys = report.write_hot_keys = 0;
  std::vector<Placed> rows = placed_rows(all, report.requests_rate);
  for (std::size_t i = 0; i < rows.size() && i < kRowsMax; ++i) {
    const detect::Temperature heat = rows[i].key.verdict.temperature;
    report.hot_keys += heat == detect::Temperature::kHot ? 1 : 0;
    report.write_hot_keys += heat == detect::Temperature::kWriteHot ? 1 : 0;
    out.node_of_row.push_back(std::move(rows[i].node));
    report.keys.push_back(std::move(rows[i].key));
  }
  if (rows.size() > kRowsMax && report.absent_max)
    report.absent_max = std::max(*report.absent_max, rows[kRowsMax].key.verdict.rate_high);
  out.slots = joined_slots(all);
  return out;
}

}  // namespace heatsink::observe
