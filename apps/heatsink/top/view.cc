// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/view.h"

#include <algorithm>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "apps/heatsink/top/cluster_load.h"
#include "heatsink/report/key_fields.h"

namespace heatsink::app {
namespace {

namespace json = boost::json;

Result<json::value> parse(std::string_view text) {
  if (text.size() > kAnswerBytesMax) return not_hotkeys("it is too large");
  json::parse_options options;
  options.max_depth = kAnswerDepthMax;
  json::error_code error;
  json::value value = json::parse(json::string_view(text.data(), text.size()), error, {}, options);
  if (error) return not_hotkeys("not JSON: " + error.message());
  return value;
}

NodeView read_node(Members members) {
  NodeView node;
  report::read_fields(members, report::node_fields(), node);
  return node;
}

NodeView read_cluster_node(Members members) {
  NodeView node;
  members.read("upstream", node.upstream);
  members.read("upstream_up", node.upstream_up);
  members.read("watched", node.is_watched);
  members.read("requests_rate", node.requests_rate);
  members.read("reads_rate", node.reads_rate);
  members.read("writes_rate", node.writes_rate);
  members.read("trouble", node.trouble);
  return node;
}

SlotView read_slot(Members members) {
  SlotView out;
  std::uint64_t slot = 0;
  members.read("slot", slot);
  out.slot = static_cast<std::uint16_t>(std::min<std::uint64_t>(slot, kSlotsShownMax - 1));
  members.read("node", out.node);
  members.read("keys", out.keys);
  members.read("cpu_share", out.cpu_share);
  members.read("bytes_rate", out.bytes_rate);
  // the first versions of the answer lack it
  if (members.has("rate")) members.read("rate", out.rate);
  return out;
}

KeyView read_key(Members members) {
  KeyView key;
  report::read_name(members, key);
  report::read_fields(members, report::key_fields(), key);
  report::complete(key);
  return key;
}

void read_keys(const json::array& keys, HotkeysView& view, std::optional<Error>& error) {
  if (keys.size() > kKeysShownMax) error = not_hotkeys("it has too many keys");
  for (const json::value& key : keys) {
    if (!key.is_object()) error = not_hotkeys("\"keys\" must hold objects");
    if (error) return;
    view.keys.push_back(read_key(Members(key.get_object(), error)));
  }
}

KeyView read_template(Members members) {
  KeyView out;
  report::read_name(members, out);
  report::read_fields(members, report::template_fields(), out);
  out.dimension = "requests";
  set_hits(out);
  return out;
}

// Older nodes lack them.
void read_templates(Members members, HotkeysView& view, std::optional<Error>& error) {
  if (!members.has("templates")) return;
  const auto* object = members.find("templates", "an object", json::kind::object);
  if (object == nullptr) return;
  Members templates(object->get_object(), error);
  TemplatesView& out = view.templates.emplace();
  templates.read("rest_rate_low", out.rest_low);
  templates.read("rest_rate_high", out.rest_high);
  const auto* list = templates.find("list", "an array", json::kind::array);
  if (list == nullptr) return;
  for (const json::value& each : list->get_array()) {
    if (!each.is_object()) error = not_hotkeys("\"templates\" must hold objects");
    if (error || out.list.size() == kTemplatesShownMax) return;
    out.list.push_back(read_template(Members(each.get_object(), error)));
  }
}

SourceView read_source(Members members) {
  SourceView source;
  members.read("name", source.name);
  members.read("state", source.state);
  members.read("cost", source.cost);
  members.read("blind_spots", source.blind_spots);
  members.read("confidence", source.confidence);
  members.read("note", source.note);
  members.read("progress", source.progress);
  return source;
}

CopiesView::Point read_point(Members members) {
  CopiesView::Point point;
  members.read("entries", point.entries);
  members.read("saved", point.saved);
  return point;
}

CopiesView::Copy read_copy(Members members) {
  CopiesView::Copy copy;
  members.read("name", copy.name);
  members.read("db", copy.db);
  members.read("commands", copy.commands);
  members.read("hits_rate", copy.hits_rate);
  members.read("hits_rate_error", copy.hits_error);
  members.read("fills_rate", copy.fills_rate);
  members.read("invalidations_rate", copy.invalidations_rate);
  members.read("saved_rate", copy.saved_rate);
  members.read("server_cpu", copy.server_cpu);
  members.read("bytes", copy.bytes.count);
  return copy;
}

void read_scale(const json::object& object, const char* name, CopiesView::Scale& scale,
                std::optional<Error>& error) {
  Members members(object, error);
  const json::value* const value = members.find(name, "an object", json::kind::object);
  if (value == nullptr) return;
  Members figures(value->get_object(), error);
  figures.read("scale", scale.scale);
  figures.read("measured", scale.is_measured);
}

std::optional<CopiesView::Prices> read_prices(const json::object& object,
                                              std::optional<Error>& error) {
  const json::value* const value = object.if_contains("prices");
  if (value == nullptr || !value->is_object()) return std::nullopt;
  CopiesView::Prices prices;
  const json::object& told = value->get_object();
  read_scale(told, "server", prices.server, error);
  read_scale(told, "keeper", prices.keeper, error);
  read_scale(told, "worker", prices.worker, error);
  Members(told, error).read("fill_wait_seconds", prices.fill_wait);
  return prices;
}

CopiesView read_copies(const json::object& object, std::optional<Error>& error) {
  CopiesView copies;
  Members members(object, error);
  if (const json::value* choice = object.if_contains("choice"); choice && choice->is_object()) {
    Members chosen(choice->get_object(), error);
    chosen.read("reads", copies.reads);
    chosen.read("history", copies.history);
    chosen.read("order", copies.order);
  }
  members.read("saved", copies.saved);
  members.read("fill_cost", copies.fill_cost);
  if (members.has("fill_cost_spread")) members.read("fill_cost_spread", copies.fill_cost_spread);
  members.read("invalidation_cost", copies.invalidation_cost);
  if (members.has("read_cpu_seconds")) members.read("read_cpu_seconds", copies.read_cpu.emplace());
  if (members.has("proxy_fill_cpu_seconds")) {
    members.read_difference("proxy_read_cpu_seconds", copies.proxy_read_cpu.emplace());
    members.read("proxy_fill_cpu_seconds", copies.proxy_fill_cpu.emplace());
  }
  copies.prices = read_prices(object, error);
  if (const auto* refused = members.find("refused", "an object", json::kind::object)) {
    Members counts(refused->get_object(), error);
    counts.read("seldom_read", copies.seldom_read);
    counts.read("written", copies.written);
    counts.read("too_big", copies.too_big);
    counts.read("no_room", copies.no_room);
  }
  members.read("entries_max", copies.entries_max);
  members.read("bytes_max", copies.bytes_max.count);
  read_list(object, "curve", kCurveShownMax, read_point, copies.curve, error);
  members.read("advice", copies.advice);
  read_list(object, "top", kCopiesShownMax, read_copy, copies.top, error);
  return copies;
}

// Only answers about an observed server have them.
void read_sources(const json::object& document, HotkeysView& view, std::optional<Error>& error) {
  const json::value* sources = document.if_contains("sources");
  if (sources == nullptr || !sources->is_array()) return;
  read_list(document, "sources", kSourcesShownMax, read_source, view.sources, error);
  read_list(document, "nodes", kNodesShownMax, read_cluster_node, view.nodes, error);
  read_list(document, "slots", kSlotsShownMax, read_slot, view.slots, error);
  const json::value* cluster = document.if_contains("cluster");
  view.cluster = cluster != nullptr && cluster->is_bool() && cluster->get_bool();
  if (error) return;
  forget_hits(view);
  const json::value* differences = document.if_contains("cross_check");
  if (differences == nullptr || !differences->is_array()) return;
  for (const json::value& difference : differences->get_array()) {
    if (!difference.is_string() || view.cross_check.size() == kDifferencesShownMax) return;
    view.cross_check.emplace_back(difference.get_string().c_str());
  }
}

}  // namespace

void forget_hits(HotkeysView& view) {
  NodeView& node = view.node;
  node.hits_rate = node.misses_rate = node.hit_ratio = node.offload = node.cpu_offload = kUnknown;
  node.cpu_unknown.clear();
  node.commands_rate = node.server_commands_rate = kUnknown;
  for (KeyView& key : view.keys) {
    key.hits_rate = key.hit_ratio = key.offload = kUnknown;
    key.misses_rate = key.absent_rate;
    // sources that see bytes see some for each key
    if (key.bytes_rate == 0) key.bytes_rate = kUnknown;
  }
  if (!view.templates) return;
  for (KeyView& each : view.templates->list)
    each.hits_rate = each.hit_ratio = each.misses_rate = kUnknown;
}

double at_most(const KeyView& key, const NodeView& node) {
  return std::max(known(key.rate_high), key.rate + known(node.unseen_rate));
}

bool is_unproven(const KeyView& key, const NodeView& node) {
  if (std::isnan(node.unseen_rate) || !(node.hot > 0)) return false;
  return key.verdict != "hot" && key.verdict != "write-hot" &&
         (node.may_be_pause || at_most(key, node) >= node.hot);
}

Result<HotkeysView> parse_hotkeys(std::string_view text) {
  const Result<json::value> document = parse(text);
  if (!document) return document.error();
  if (!document->is_object()) return not_hotkeys("not an object");
  HotkeysView view;
  std::optional<Error> error;
  Members members(document->get_object(), error);
  members.read("window_seconds", view.window);
  members.read("uptime_seconds", view.uptime);
  members.read("headline", view.headline);
  if (members.has("hot_means")) members.read("hot_means", view.hot_means);
  if (const auto* node = members.find("node", "an object", json::kind::object)) {
    view.node = read_node(Members(node->get_object(), error));
  }
  if (const auto* keys = members.find("keys", "an array", json::kind::array)) {
    read_keys(keys->get_array(), view, error);
  }
  if (const json::value* copies = document->get_object().if_contains("copies");
      copies != nullptr && copies->is_object())
    view.copies = read_copies(copies->get_object(), error);
  read_templates(members, view, error);
  read_cluster_load(document->get_object(), view, error);
  read_sources(document->get_object(), view, error);
  if (error) return *error;
  for (KeyView& key : view.keys) key.unproven = is_unproven(key, view.node);
  return view;
}

std::string json_with_keys(std::string_view text, const std::vector<std::size_t>& chosen) {
  json::value document = parse(text).value();
  json::array& keys = document.as_object()["keys"].as_array();
  json::array kept;
  for (const std::size_t place : chosen) kept.push_back(keys.at(place));
  keys = std::move(kept);
  return json::serialize(document);
}

Result<std::string> json_on_one_line(std::string_view text) {
  const Result<json::value> document = parse(text);
  if (!document) return document.error();
  while (text.ends_with('\n')) text.remove_suffix(1);
  if (text.find_first_of("\r\n") == std::string_view::npos) return std::string(text);
  return json::serialize(*document);
}

}  // namespace heatsink::app
