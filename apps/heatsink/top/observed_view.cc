// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/observed_view.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/report/hotkeys_json.h"
#include "heatsink/report/report.h"

namespace heatsink::app {
namespace {

NodeView node_view(const observe::NodeSeen& seen) {
  NodeView node;
  node.upstream = printable(seen.name);
  node.upstream_up = seen.is_up;
  node.is_watched = seen.is_watched;
  node.requests_rate = seen.load ? report::finite_or_unknown(seen.load->requests_rate()) : kUnknown;
  node.reads_rate = seen.load ? report::finite_or_unknown(seen.load->reads_rate) : kUnknown;
  node.writes_rate = seen.load ? report::finite_or_unknown(seen.load->writes_rate) : kUnknown;
  node.trouble = one_line(seen.trouble, kSentenceBytesMax);
  return node;
}

SlotView slot_view(const observe::SlotSeen& seen) {
  return {.slot = seen.slot,
          .node = printable(seen.node),
          .keys = report::finite_or_unknown(seen.keys),
          .cpu_share = report::finite_or_unknown(seen.cpu_share),
          .bytes_rate = report::finite_or_unknown(seen.bytes_rate),
          .rate = report::finite_or_unknown(seen.rate)};
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

void add_details(const observe::KeyDetails& details, KeyView& key) {
  key.type = printable(details.type);
  key.encoding = printable(details.encoding);
  if (details.value_bytes) key.value_bytes = Bytes{*details.value_bytes};
  if (details.memory_bytes) key.memory_bytes = Bytes{*details.memory_bytes};
  if (details.ttl) key.ttl = std::max(Nanos(*details.ttl), Nanos(0));
  key.never_expires = details.never_expires;
}

TemplatesView templates_view(const report::TemplatesReport& report) {
  TemplatesView out;
  out.rest_low = report::finite_or_unknown(report.rest_low);
  out.rest_high = report::finite_or_unknown(report.rest_high);
  for (const report::TemplateReport& each : report.list) {
    KeyView& row = out.list.emplace_back(report::template_view(each));
    set_hits(row);
  }
  return out;
}

std::vector<KeyView> key_views(const observe::Observation& seen) {
  std::vector<KeyView> out;
  const std::vector<report::KeyReport>& rows = seen.report.keys;
  for (std::size_t i = 0; i < std::min(rows.size(), kKeysShownMax); ++i) {
    KeyView& key = out.emplace_back(report::key_view(rows[i], seen.report.at));
    add_seen(seen, i, key);
    report::complete(key);
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

void add_seen(const observe::Observation& seen, std::size_t row, KeyView& key) {
  if (row < seen.details.size() && seen.details[row]) add_details(*seen.details[row], key);
  if (row < seen.answers.size() && seen.answers[row]) {
    const observe::KeyAnswers& answers = *seen.answers[row];
    key.absent_rate = answers.absent_share * reads_rate(seen.report.keys[row].verdict);
    key.latency_mean = answers.latency_mean;
    key.latency_p99 = answers.latency_p99;
  }
  if (row < seen.node_of_row.size()) key.node = printable(seen.node_of_row[row]);
}

HotkeysView observed_view(const observe::Picture& picture) {
  const observe::Observation& first = picture.sources.front();
  HotkeysView view;
  view.window = first.report.window;
  view.uptime = std::max(first.report.uptime, Nanos(0));
  view.headline = report::headline(first.report);
  view.hot_means = one_line(first.report.hot_means, detect::kKeyBytesMax);
  view.node = report::node_view(first.report);
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
