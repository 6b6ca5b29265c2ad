// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/key_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/heatsink/top_paint.h"
#include "heatsink/resp/resp.h"
#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

using tui::age_text;
using tui::count_text;
using tui::percent_text;
using tui::rate_text;
using tui::size_text;

std::string state_text(const KeyView& key) {
  std::string out = key.verdict;
  if (key.cached) {
    out += ", with a local copy";
    if (key.max_staleness)
      out += fmt::format(" that is never staler than {}", format_duration(*key.max_staleness));
    else if (!key.level.empty())
      out += fmt::format(" (level {})", key.level);
  } else if (!key.cache_note.empty()) {
    out += ", without a local copy: " + key.cache_note;
  }
  return out + "; for " + age_text(key.age);
}

std::string rate_words(const KeyView& key) {
  std::string out = amount_text(key, key.rate) + "/s";
  if (error_of(key) > 0) out += " ±" + amount_text(key, error_of(key));
  if (!std::isnan(key.share)) out += fmt::format("; {} of all accesses", percent_text(key.share));
  const double seconds = std::chrono::duration<double>(key.window).count();
  return out + "; over " + (seconds < 10 ? fmt::format("{:.2g}s", seconds) : age_text(key.window));
}

std::string reads_text(const KeyView& key) {
  std::string out = rate_text(key.reads_rate);
  if (std::isnan(key.hits_rate) && std::isnan(key.misses_rate)) return out;
  if (std::isnan(key.hits_rate))
    return out + fmt::format(": {} find no such key", rate_text(key.misses_rate));
  return out + fmt::format(": {} hits ({}), {} misses", rate_text(key.hits_rate),
                           percent_text(key.hit_ratio), rate_text(key.misses_rate));
}

std::string value_text(const KeyView& key) {
  std::vector<std::string> parts;
  if (key.value_bytes)
    parts.push_back(
        (key.type.empty() || key.type == "none" ? "its longest reply had " : "it has ") +
        size_text(*key.value_bytes));
  if (!key.type.empty()) parts.push_back("type " + key.type);
  if (!key.encoding.empty()) parts.push_back("encoding " + key.encoding);
  if (key.ttl) parts.push_back("expires in " + age_text(*key.ttl));
  if (key.never_expires) parts.emplace_back("no TTL");
  if (!key.value_problem.empty()) parts.push_back("not all is told: " + key.value_problem);
  if (parts.empty()) return "size, type and TTL are not told by this source";
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

std::string place_text(const KeyView& key, const HotkeysView& view) {
  if (!view.cluster) return view.node.upstream;
  std::string out = key.node.empty() ? "a node that is not told" : key.node;
  if (const auto slot = slot_of(key)) out += fmt::format(", slot {}", *slot);
  return out;
}

const NodeView& node_of(const KeyView& key, const HotkeysView& view) {
  const auto found = std::ranges::find(view.nodes, key.node, &NodeView::upstream);
  return found == view.nodes.end() ? view.node : *found;
}

}  // namespace

std::optional<std::uint16_t> slot_of(const KeyView& key) {
  if (key.slot || key.name_truncated) return key.slot;
  return resp::key_slot(key.raw_name);
}

std::vector<Fact> key_facts(const KeyView& key, const HotkeysView& view) {
  std::vector<Fact> out{{"state", state_text(key)}};
  if (!key.reason.empty()) out.push_back({"why", key.reason});
  if (!key.rule.empty()) out.push_back({"rule", fmt::format("{} ({})", key.rule, key.dimension)});
  out.push_back({"rate", rate_words(key)});
  out.push_back({"reads", reads_text(key)});
  out.push_back({"writes", rate_text(key.writes_rate)});
  if (!std::isnan(key.bytes_rate)) out.push_back({"bytes", count_text(key.bytes_rate) + "B/s"});
  if (key.latency_mean && key.latency_p99) {
    out.push_back(
        {"latency",
         fmt::format("{} on average, 99 % within {}, from where it is captured",
                     tui::latency_text(*key.latency_mean), tui::latency_text(*key.latency_p99))});
  }
  const double all = accesses_in_window(key);
  if (!key.commands.empty()) out.push_back({"commands", tallies_text(key.commands, all)});
  if (!key.clients.empty()) out.push_back({"clients", tallies_text(key.clients, all)});
  if (!key.limit.empty())
    out.push_back(
        {"limit", fmt::format("{}; {} are held back", key.limit, rate_text(key.limited_rate))});
  out.push_back({"value", value_text(key)});
  out.push_back({"place", place_text(key, view)});
  return out;
}

advice::Advice advice_on(const KeyView& key, const HotkeysView& view) {
  const NodeView& node = node_of(key, view);
  advice::KeyTraffic traffic{.reads_rate = known(key.reads_rate),
                             .writes_rate = known(key.writes_rate),
                             .node_rate = known(node.requests_rate),
                             .value = key.value_bytes,
                             .replicas = node.replicas};
  if (view.cluster && !view.nodes.empty())
    traffic.masters = static_cast<std::uint32_t>(view.nodes.size());
  advice::AdviceOptions options;
  if (key.max_staleness) options.max_staleness = *key.max_staleness;
  if (node.dimension == "requests" && node.hot > 0) options.limit_rate = std::round(node.hot);
  return advise(traffic, options);
}

std::vector<Fact> advice_facts(const KeyView& key, const HotkeysView& view) {
  const advice::Advice advice = advice_on(key, view);
  std::vector<Fact> out;
  if (key.cached && key.hit_ratio > 0)
    out.push_back({"now", fmt::format("local copies answer {} of its reads already",
                                      percent_text(key.hit_ratio))});
  const bool says_more =
      advice.remedies.empty() || !advice.headline.ends_with(advice.remedies.front().text);
  if (says_more) out.push_back({"advice", advice.headline});
  for (const advice::Remedy& remedy : advice.remedies)
    out.push_back({remedy.helps ? "helps" : "no use",
                   fmt::format("{}: {}", to_string(remedy.relief), remedy.text)});
  return out;
}

}  // namespace heatsink::app
