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

#include "apps/heatsink/top/view_members.h"
#include "heatsink/base/base64.h"

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
  members.read("upstream", node.upstream);
  members.read("upstream_up", node.upstream_up);
  members.read("coherence", node.coherence);
  members.read("requests_rate", node.requests_rate);
  members.read("reads_rate", node.reads_rate);
  members.read("writes_rate", node.writes_rate);
  members.read("hits_rate", node.hits_rate);
  members.read("misses_rate", node.misses_rate);
  members.read("hit_ratio", node.hit_ratio);
  members.read("offload", node.offload);
  members.read("clients", node.clients);
  members.read("hot_keys", node.hot_keys);
  members.read("cached_entries", node.cached_entries);
  members.read("cached_bytes", node.cached_bytes.count);
  members.read("stale_confirmed", node.stale_confirmed);
  members.read("dimension", node.dimension);
  members.read("hot", node.hot);
  members.read("warm", node.warm);
  if (members.has("commands_rate")) {
    members.read("commands_rate", node.commands_rate);
    members.read("server_commands_rate", node.server_commands_rate);
  }
  if (members.has("cpu_offload")) members.read("cpu_offload", node.cpu_offload);
  if (members.has("cpu_unknown")) members.read("cpu_unknown", node.cpu_unknown);
  if (members.has("absent_max")) members.read("absent_max", node.absent_max);
  if (members.has("unseen_rate")) members.read("unseen_rate", node.unseen_rate);
  if (members.has("may_be_pause")) members.read("may_be_pause", node.may_be_pause);
  if (members.has("workers")) members.read("workers", node.workers);
  if (members.has("redacted")) members.read("redacted", node.redacted);
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

void read_parts(Members& members, KeyView& key) {
  AccessCounts counts;
  members.read("reads", counts.reads);
  members.read("writes", counts.writes);
  members.read("hits", counts.hits);
  members.read("bytes", counts.bytes);
  members.read("window_seconds", key.window);
  counts.covered = key.window;
  // Earlier versions of the answer lack it.
  if (members.has("counted_seconds")) members.read("counted_seconds", counts.covered);
  set_rates(key, counts);
}

void read_tallies(Members& members, std::string_view name, std::vector<TallyView>& out,
                  std::optional<Error>& error) {
  const json::value* list = members.find(name, "an array", json::kind::array);
  if (list == nullptr) return;
  for (const json::value& value : list->get_array()) {
    if (!value.is_object()) error = not_hotkeys("\"" + std::string(name) + "\" must hold objects");
    if (error || out.size() == kTalliesShownMax) return;
    Members tally(value.get_object(), error);
    out.emplace_back();
    tally.read("name", out.back().name);
    tally.read("low", out.back().count);
    double high = 0;
    tally.read("high", high);
    out.back().doubt = std::max(high - out.back().count, 0.0);
  }
}

void read_name(Members& members, KeyView& key, std::optional<Error>& error) {
  std::string encoded;
  members.read("name", key.name);
  members.read("name_base64", encoded);
  members.read("name_truncated", key.name_truncated);
  std::optional<std::string> bytes = from_base64(encoded);
  if (!bytes && !error) error = not_hotkeys("\"name_base64\" must be base64");
  if (bytes) key.raw_name = *std::move(bytes);
}

// Members that the first versions of the answer lack, and members that may be null.
void read_optional(Members& members, KeyView& key) {
  if (members.has("max_staleness_seconds"))
    members.read("max_staleness_seconds", key.max_staleness.emplace());
  if (members.has("limit")) members.read("limit", key.limit);
  if (members.has("limited_rate")) members.read("limited_rate", key.limited_rate);
  if (members.has("warmed")) members.read("warmed", key.warmed);
  if (members.has("coalesce_seconds")) members.read("coalesce_seconds", key.coalesce);
  if (members.has("stale_while_error_seconds"))
    members.read("stale_while_error_seconds", key.stale_while_error);
  if (members.has("reply_bytes")) members.read("reply_bytes", key.value_bytes.emplace().count);
  if (members.has("value_bytes")) members.read("value_bytes", key.value_bytes.emplace().count);
  if (members.has("memory_bytes")) members.read("memory_bytes", key.memory_bytes.emplace().count);
  if (members.has("type")) members.read("type", key.type);
  if (members.has("encoding")) members.read("encoding", key.encoding);
  if (members.has("ttl_seconds")) members.read("ttl_seconds", key.ttl.emplace());
  if (members.has("absent_rate")) members.read("absent_rate", key.absent_rate);
  if (members.has("latency_mean_seconds"))
    members.read("latency_mean_seconds", key.latency_mean.emplace());
  if (members.has("latency_p99_seconds"))
    members.read("latency_p99_seconds", key.latency_p99.emplace());
  if (members.has("never_expires")) members.read("never_expires", key.never_expires);
  if (members.has("value_problem")) members.read("value_problem", key.value_problem);
  if (members.has("node")) members.read("node", key.node);
}

KeyView read_key(Members members, std::optional<Error>& error) {
  KeyView key;
  read_name(members, key, error);
  members.read("db", key.db);
  members.read("rate", key.rate);
  members.read("rate_low", key.rate_low);
  members.read("rate_high", key.rate_high);
  members.read("share", key.share);
  members.read("rule", key.rule);
  members.read("dimension", key.dimension);
  read_parts(members, key);
  read_tallies(members, "commands", key.commands, error);
  read_tallies(members, "clients", key.clients, error);
  members.read("hit_ratio", key.hit_ratio);
  if (members.has("offload")) members.read("offload", key.offload);
  members.read("age_seconds", key.age);
  members.read("verdict", key.verdict);
  members.read("reason", key.reason);
  members.read("cached", key.cached);
  members.read("cache_note", key.cache_note);
  members.read("level", key.level);
  read_optional(members, key);
  return key;
}

void read_keys(const json::array& keys, HotkeysView& view, std::optional<Error>& error) {
  if (keys.size() > kKeysShownMax) error = not_hotkeys("it has too many keys");
  for (const json::value& key : keys) {
    if (!key.is_object()) error = not_hotkeys("\"keys\" must hold objects");
    if (error) return;
    view.keys.push_back(read_key(Members(key.get_object(), error), error));
  }
}

KeyView read_template(Members members, std::optional<Error>& error) {
  KeyView out;
  read_name(members, out, error);
  out.dimension = "requests";
  members.read("db", out.db);
  members.read("rate", out.rate);
  members.read("rate_low", out.rate_low);
  members.read("rate_high", out.rate_high);
  members.read("share", out.share);
  members.read("reads_rate", out.reads_rate);
  members.read("writes_rate", out.writes_rate);
  members.read("hits_rate", out.hits_rate);
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
    out.list.push_back(read_template(Members(each.get_object(), error), error));
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
    members.read("proxy_read_cpu_seconds", copies.proxy_read_cpu.emplace());
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

void set_rates(KeyView& key, const AccessCounts& counts) {
  const double all = counts.reads + counts.writes;
  const double seconds = std::chrono::duration<double>(counts.covered).count();
  if (!(all > 0) || !(seconds > 0)) return;
  const double rate = key.dimension == "requests" ? key.rate : all / seconds;
  key.reads_rate = rate * counts.reads / all;
  key.writes_rate = rate * counts.writes / all;
  key.hits_rate = rate * counts.hits / all;
  key.misses_rate = rate * std::max(counts.reads - counts.hits, 0.0) / all;
  key.bytes_rate = key.dimension == "bytes" ? key.rate : rate * counts.bytes / all;
}

void set_hits(KeyView& pattern) {
  pattern.misses_rate = std::max(pattern.reads_rate - pattern.hits_rate, 0.0);
  pattern.hit_ratio = pattern.reads_rate > 0 ? pattern.hits_rate / pattern.reads_rate : 0;
}

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
