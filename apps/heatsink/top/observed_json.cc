// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/observed_json.h"

#include <algorithm>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <limits>

#include "apps/heatsink/top/observed_view.h"
#include "heatsink/base/printable.h"
#include "heatsink/report/hotkeys_json.h"
#include "heatsink/report/report.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

// Converts a time of the boot clock to UTC, using the wall clock at the report's time.
std::string utc(TimePoint moment, const report::Report& report, WallTime wall_at) {
  return iso_time(wall_at - std::chrono::duration_cast<WallTime::duration>(report.at - moment));
}

json::object source_object(const observe::Observation& seen, WallTime wall_at) {
  const observe::SourceFacts& facts = seen.facts;
  json::object out;
  out["name"] = facts.name;
  const std::string_view state = to_string(seen.state);
  out["state"] = json::string_view(state.data(), state.size());
  out["cost"] = one_line(facts.cost, kSentenceBytesMax);
  out["blind_spots"] = one_line(facts.blind_spots, kSentenceBytesMax);
  out["confidence"] = one_line(facts.confidence, kSentenceBytesMax);
  out["note"] = one_line(seen.note, kSentenceBytesMax);
  out["since"] = nullptr;
  out["until"] = nullptr;
  if (seen.interval) {
    out["since"] = utc(seen.interval->since, seen.report, wall_at);
    out["until"] = utc(seen.interval->until, seen.report, wall_at);
  }
  out["progress"] = seen.progress < 0 ? json::value(nullptr) : json::value(seen.progress);
  return out;
}

json::value number_or_null(double value) {
  return std::isfinite(value) ? json::value(value) : json::value(nullptr);
}

json::array slots_array(const observe::Observation& seen) {
  json::array out;
  for (const observe::SlotSeen& slot : seen.slots) {
    out.push_back(json::object{{"slot", slot.slot},
                               {"node", printable(slot.node)},
                               {"keys", number_or_null(slot.keys)},
                               {"cpu_share", number_or_null(slot.cpu_share)},
                               {"bytes_rate", number_or_null(slot.bytes_rate)},
                               {"rate", number_or_null(slot.rate)}});
  }
  return out;
}

json::object node_object(const observe::NodeSeen& node) {
  const double unknown = std::numeric_limits<double>::quiet_NaN();
  return {{"upstream", printable(node.name)},
          {"upstream_up", node.is_up},
          {"watched", node.is_watched},
          {"requests_rate", number_or_null(node.load ? node.load->requests_rate() : unknown)},
          {"reads_rate", number_or_null(node.load ? node.load->reads_rate : unknown)},
          {"writes_rate", number_or_null(node.load ? node.load->writes_rate : unknown)},
          {"trouble", one_line(node.trouble, kSentenceBytesMax)}};
}

void add_nodes(const observe::Picture& picture, json::object& out) {
  out["cluster"] = picture.is_cluster;
  if (!picture.is_cluster) return;
  json::array nodes;
  for (const observe::NodeSeen& node : picture.nodes) nodes.push_back(node_object(node));
  out["nodes"] = std::move(nodes);
}

void withhold_verdict(const observe::Observation& first, json::object& out) {
  out["headline"] = not_known_yet(first);
  json::object& node = out["node"].as_object();
  for (const char* rate : {"requests_rate", "reads_rate", "writes_rate"}) node[rate] = nullptr;
}

}  // namespace

std::string observed_json(const observe::Picture& picture, WallTime wall_at) {
  const std::vector<observe::Observation>& seen = picture.sources;
  json::object out = report::hotkeys_object(
      seen.front().report, wall_at,
      [&](std::size_t row, KeyView& key) { add_seen(seen.front(), row, key); });
  if (is_verdict_withheld(seen.front())) withhold_verdict(seen.front(), out);
  for (json::value& key : out["keys"].as_array())
    if (!seen.front().node_of_row.empty()) key.as_object().emplace("node", "");
  out["node"].as_object().emplace("unseen_rate", nullptr);
  out["node"].as_object()["may_be_pause"] = seen.front().may_be_pause;
  json::array sources;
  for (const observe::Observation& each : seen) sources.push_back(source_object(each, wall_at));
  out["sources"] = std::move(sources);
  json::array differences;
  for (const std::string& difference : observe::cross_check(seen))
    differences.push_back(json::string(one_line(difference, kSentenceBytesMax)));
  out["cross_check"] = std::move(differences);
  add_nodes(picture, out);
  const auto counted = std::ranges::find_if(
      seen, [](const observe::Observation& each) { return !each.slots.empty(); });
  if (counted != seen.end()) out["slots"] = slots_array(*counted);
  return json::serialize(out);
}

}  // namespace heatsink::app
