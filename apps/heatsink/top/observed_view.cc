// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/observed_view.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/report/hotkeys_json.h"
#include "heatsink/report/report.h"

namespace heatsink::app {
namespace {

double finite(double value) { return std::isfinite(value) ? value : kUnknown; }

NodeView node_view(const report::Report& report) {
  NodeView node;
  node.upstream = printable(report.upstream);
  node.upstream_up = report.upstream_up;
  node.coherence = printable(report.coherence);
  node.requests_rate = finite(report.requests_rate);
  node.reads_rate = finite(report.reads_rate);
  node.writes_rate = finite(report.writes_rate);
  node.clients = report.clients;
  node.hot_keys = report.hot_keys;
  node.cached_entries = report.cached_entries;
  node.cached_bytes = Bytes{report.cached_bytes};
  node.stale_confirmed = report.stale_confirmed;
  node.dimension = detect::to_string(report.dimension);
  node.hot = finite(report.hot);
  node.warm = finite(report.warm);
  node.absent_max = report.absent_max ? finite(*report.absent_max) : kUnknown;
  node.unseen_rate = report.unseen_rate ? finite(*report.unseen_rate) : kUnknown;
  node.workers = report.workers;
  node.redacted = report.redacted;
  return node;
}

NodeView node_view(const observe::NodeSeen& seen) {
  NodeView node;
  node.upstream = printable(seen.name);
  node.upstream_up = seen.is_up;
  node.is_watched = seen.is_watched;
  node.requests_rate = seen.load ? finite(seen.load->requests_rate()) : kUnknown;
  node.reads_rate = seen.load ? finite(seen.load->reads_rate) : kUnknown;
  node.writes_rate = seen.load ? finite(seen.load->writes_rate) : kUnknown;
  node.trouble = one_line(seen.trouble, kSentenceBytesMax);
  return node;
}

SlotView slot_view(const observe::SlotSeen& seen) {
  return {.slot = seen.slot,
          .node = printable(seen.node),
          .keys = finite(seen.keys),
          .cpu_share = finite(seen.cpu_share),
          .bytes_rate = finite(seen.bytes_rate),
          .rate = finite(seen.rate)};
}

SourceView source_view(const observe::Observation& seen) {
  return {.name = seen.facts.name,
          .state = std::string(to_string(seen.state)),
          .cost = one_line(seen.facts.cost, kSentenceBytesMax),
          .blind_spots = one_line(seen.facts.blind_spots, kSentenceBytesMax),
          .confidence = one_line(seen.facts.confidence, kSentenceBytesMax),
          .note = one_line(seen.note, kSentenceBytesMax),
          .progress = seen.progress < 0 ? kUnknown : seen.progress};
}

std::vector<TallyView> tally_views(const std::vector<detect::Tally>& tallies) {
  std::vector<TallyView> out;
  for (const detect::Tally& tally : tallies) {
    if (out.size() == kTalliesShownMax) break;
    const auto low = static_cast<double>(tally.low);
    out.push_back(
        {printable(tally.name), low, std::max(static_cast<double>(tally.high) - low, 0.0)});
  }
  return out;
}

void add_details(const observe::KeyDetails& details, KeyView& key) {
  key.type = printable(details.type);
  key.encoding = printable(details.encoding);
  if (details.value_bytes) key.value_bytes = Bytes{*details.value_bytes};
  if (details.memory_bytes) key.memory_bytes = Bytes{*details.memory_bytes};
  if (details.ttl) key.ttl = std::max(Nanos(*details.ttl), Nanos(0));
  key.never_expires = details.never_expires;
}

KeyView key_view(const report::KeyReport& row, TimePoint at) {
  const detect::Verdict& verdict = row.verdict;
  const detect::KeyCount& count = verdict.count;
  KeyView key;
  key.name = printable(count.key, detect::kKeyBytesMax);
  key.raw_name = count.key;
  key.name_truncated = count.key_truncated;
  key.db = count.db;
  key.rate = finite(verdict.rate);
  key.rate_low = finite(verdict.rate_low);
  key.rate_high = finite(verdict.rate_high);
  key.share = finite(verdict.share);
  key.rule = printable(verdict.rule, detect::kKeyBytesMax);
  key.dimension = detect::to_string(verdict.measure.dimension);
  key.window = verdict.measure.window;
  set_rates(key, {.reads = static_cast<double>(count.reads),
                  .writes = static_cast<double>(count.writes),
                  .hits = static_cast<double>(count.hits),
                  .bytes = static_cast<double>(count.bytes),
                  .covered = row.covered > Nanos(0) ? row.covered : key.window});
  key.commands = tally_views(count.commands);
  key.clients = tally_views(count.clients);
  key.age = std::max(at - verdict.since, Nanos(0));
  key.verdict = detect::to_string(verdict.temperature);
  key.reason = one_line(verdict.reason, detect::kKeyBytesMax);
  key.cached = row.cached;
  key.cache_note = printable(row.cache_note);
  key.level = printable(row.level);
  key.max_staleness = row.max_staleness;
  key.limit = printable(row.limit, detect::kKeyBytesMax);
  key.limited_rate = finite(row.limited_rate);
  key.warmed = row.warmed;
  key.coalesce = row.coalesce;
  key.stale_while_error = row.stale_while_error;
  key.value_bytes = row.reply_bytes;
  return key;
}

TemplatesView templates_view(const report::TemplatesReport& report) {
  TemplatesView out;
  out.rest_low = finite(report.rest_low);
  out.rest_high = finite(report.rest_high);
  for (const report::TemplateReport& each : report.list) {
    KeyView& row = out.list.emplace_back();
    row.name = printable(each.name);
    row.raw_name = each.name;
    row.name_truncated = each.name_truncated;
    row.db = each.db;
    row.dimension = "requests";
    row.rate = finite(each.rate);
    row.rate_low = finite(each.rate_low);
    row.rate_high = finite(each.rate_high);
    row.share = finite(each.share);
    row.reads_rate = finite(each.reads_rate);
    row.writes_rate = finite(each.writes_rate);
    row.hits_rate = finite(each.hits_rate);
    set_hits(row);
  }
  return out;
}

std::vector<KeyView> key_views(const observe::Observation& seen) {
  std::vector<KeyView> out;
  const std::vector<report::KeyReport>& rows = seen.report.keys;
  for (std::size_t i = 0; i < std::min(rows.size(), kKeysShownMax); ++i) {
    KeyView& key = out.emplace_back(key_view(rows[i], seen.report.at));
    if (i < seen.details.size() && seen.details[i]) add_details(*seen.details[i], key);
    if (i < seen.answers.size() && seen.answers[i]) {
      const observe::KeyAnswers& answers = *seen.answers[i];
      key.absent_rate = answers.absent_share * reads_rate(rows[i].verdict);
      key.latency_mean = answers.latency_mean;
      key.latency_p99 = answers.latency_p99;
    }
    if (i < seen.node_of_row.size()) key.node = printable(seen.node_of_row[i]);
  }
  return out;
}

// Converts the first `items_max` items of `all`.
template <class Out, class In, class Convert>
void add_each(const std::vector<In>& all, std::size_t items_max, Convert convert,
              std::vector<Out>& out) {
  for (std::size_t i = 0; i < std::min(all.size(), items_max); ++i) out.push_back(convert(all[i]));
}

}  // namespace

std::string_view to_string(observe::SourceState state) {
  switch (state) {
    case observe::SourceState::kStarting:
      return "starting";
    case observe::SourceState::kRunning:
      return "running";
    case observe::SourceState::kFinished:
      return "finished";
    case observe::SourceState::kFailed:
      break;
  }
  return "failed";
}

double reads_rate(const detect::Verdict& verdict) {
  const auto reads = static_cast<double>(verdict.count.reads);
  const double all = reads + static_cast<double>(verdict.count.writes);
  return all > 0 ? verdict.rate * reads / all : 0;
}

bool is_verdict_withheld(const observe::Observation& first) {
  return first.state == observe::SourceState::kStarting && !first.has_shown();
}

std::string not_known_yet(const observe::Observation& first) {
  return "hot keys are not known yet: " + first.facts.name + " is starting";
}

HotkeysView observed_view(const observe::Picture& picture) {
  const observe::Observation& first = picture.sources.front();
  HotkeysView view;
  view.window = first.report.window;
  view.uptime = std::max(first.report.uptime, Nanos(0));
  view.headline = report::headline(first.report);
  view.hot_means = one_line(first.report.hot_means, detect::kKeyBytesMax);
  view.node = node_view(first.report);
  if (is_verdict_withheld(first)) {
    view.headline = not_known_yet(first);
    view.node.requests_rate = view.node.reads_rate = view.node.writes_rate = kUnknown;
  }
  view.keys = key_views(first);
  view.node.may_be_pause = first.may_be_pause;
  for (KeyView& key : view.keys) key.unproven = is_unproven(key, view.node);
  if (first.report.templates) view.templates = templates_view(*first.report.templates);
  add_each(picture.sources, kSourcesShownMax, source_view, view.sources);
  view.cluster = picture.is_cluster;
  if (picture.is_cluster) {
    add_each(
        picture.nodes, kNodesShownMax,
        [](const observe::NodeSeen& node) { return node_view(node); }, view.nodes);
  }
  const auto counted = std::ranges::find_if(
      picture.sources, [](const observe::Observation& each) { return !each.slots.empty(); });
  if (counted != picture.sources.end())
    add_each(counted->slots, kSlotsShownMax, slot_view, view.slots);
  add_each(
      observe::cross_check(picture.sources), kDifferencesShownMax,
      [](const std::string& text) { return one_line(text, kSentenceBytesMax); }, view.cross_check);
  forget_hits(view);
  return view;
}

}  // namespace heatsink::app
