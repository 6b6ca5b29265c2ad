// SPDX-License-Identifier: Apache-2.0
#include "apps/heatsink/top/key_facts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "apps/heatsink/top/paint.h"
#include "heatsink/base/printable.h"
#include "heatsink/net/net.h"
#include "heatsink/resp/resp.h"
#include "heatsink/tui/number.h"

namespace heatsink::app {
namespace {

constexpr std::uint64_t kWorkersMax = 1024;

using tui::age_text;
using tui::count_text;
using tui::percent_text;
using tui::rate_text;
using tui::size_text;

std::string state_text(const KeyView& key) {
  // Its copies come and go, with each write for example: what they answer says more than whether
  // there is one at this moment.
  if (!key.cached && known(key.hits_rate) > 0) {
    std::string out = fmt::format("{} for {}; local copies answer {} of its reads", key.verdict,
                                  age_text(key.age), percent_text(key.hit_ratio));
    return key.cache_note.empty() ? out : out + ", but there is none right now: " + key.cache_note;
  }
  std::string out = key.verdict;
  if (key.cached) {
    out += ", with a local copy";
    if (key.max_staleness)
      out += fmt::format(" at most {} stale", format_duration(*key.max_staleness));
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
    return out + fmt::format(": {} find no key", rate_text(key.misses_rate));
  return out + fmt::format(": {} hits ({}), {} misses", rate_text(key.hits_rate),
                           percent_text(key.hit_ratio), rate_text(key.misses_rate));
}

// They read it there, so the rates above lack these reads.
std::string kept_text(std::uint64_t clients) {
  const std::string who = clients == 1 ? "1 client in a cache of its own"
                                       : fmt::format("{} clients in caches of their own", clients);
  return who + ", whose reads are not seen here";
}

std::string value_text(const KeyView& key) {
  std::vector<std::string> parts;
  if (key.value_bytes)
    parts.push_back((key.type.empty() || key.type != "string" ? "longest reply " : "") +
                    size_text(*key.value_bytes));
  if (key.memory_bytes) parts.push_back(size_text(*key.memory_bytes) + " of memory on the server");
  if (!key.type.empty()) parts.push_back("type " + key.type);
  if (!key.encoding.empty()) parts.push_back("encoding " + key.encoding);
  if (key.ttl) parts.push_back("expires in " + age_text(*key.ttl));
  if (key.never_expires) parts.emplace_back("no TTL");
  if (!key.value_problem.empty()) parts.push_back("incomplete: " + key.value_problem);
  if (parts.empty()) return "this source does not report size, type and TTL";
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : ", ") + part;
  return out;
}

std::string place_text(const KeyView& key, const HotkeysView& view) {
  if (!view.cluster) return view.node.upstream;
  std::string out = key.node.empty() ? "unknown node" : key.node;
  if (const auto slot = slot_of(key)) out += fmt::format(", slot {}", *slot);
  return out;
}

const NodeView& node_of(const KeyView& key, const HotkeysView& view) {
  const auto found = std::ranges::find(view.nodes, key.node, &NodeView::upstream);
  return found == view.nodes.end() ? view.node : *found;
}

// A proxy can gather writes of certain commands. A SET with conditions cannot be told from others
// here.
std::optional<double> gatherable_part(const KeyView& key) {
  static constexpr std::string_view kGatherable[] = {"SET", "INCR", "DECR", "INCRBY", "DECRBY"};
  double gatherable = 0;
  for (const TallyView& command : key.commands) {
    if (std::ranges::find(kGatherable, command.name) != std::end(kGatherable))
      gatherable += command.count;
  }
  const double all = looked_at(key.commands, accesses_in_window(key));
  if (key.commands.empty() || !(all > 0) || !(key.writes_rate > 0)) return std::nullopt;
  const double accesses = key.reads_rate + key.writes_rate;
  return std::clamp(gatherable / all * accesses / key.writes_rate, 0.0, 1.0);
}

bool uses(const KeyView& key, std::initializer_list<std::string_view> commands) {
  return std::ranges::any_of(key.commands, [&](const TallyView& command) {
    return std::ranges::find(commands, command.name) != commands.end();
  });
}

advice::KeyUse use_of(const KeyView& key) {
  advice::KeyUse out;
  const double all = looked_at(key.clients, accesses_in_window(key));
  out.clients = key.clients.size();
  if (!key.clients.empty() && all > 0) out.first_client = key.clients[0].count / all;
  if (key.clients.size() > 1 && all > 0) out.second_client = key.clients[1].count / all;
  out.gatherable = gatherable_part(key);
  out.is_sample_log =
      (uses(key, {"ZADD"}) && uses(key, {"ZREMRANGEBYSCORE", "ZCOUNT", "ZRANGEBYSCORE"})) ||
      (uses(key, {"LPUSH", "RPUSH"}) && uses(key, {"LTRIM"}));
  out.is_limit_state = key.raw_name.starts_with("heatsink:limit:");
  return out;
}

advice::InForce in_force(const KeyView& key) {
  return {.hit_ratio = key.cached ? known(key.hit_ratio) : 0,
          .warmed = key.warmed,
          .coalesce = key.coalesce,
          .stale_while_error = key.stale_while_error,
          .limit = key.limit,
          .limited_rate = key.limited_rate};
}

advice::KeyPlace place_of(const KeyView& key, const HotkeysView& view) {
  advice::KeyPlace out;
  if (!key.name_truncated && !view.node.redacted) out.name = key.raw_name;
  out.db = static_cast<std::uint32_t>(std::min<std::uint64_t>(key.db, UINT32_MAX));
  const std::string& server = key.node.empty() ? view.node.upstream : key.node;
  if (net::parse_host_port(server)) out.server = server;
  out.has_proxy = view.sources.empty();
  out.rule = from_printable(key.rule);
  if (out.has_proxy && key.dimension == "requests" && view.node.hot > 0)
    out.hot_rate = key.verdict == "hot" || key.verdict == "write-hot" ? 0 : view.node.hot;
  out.is_level_off = out.has_proxy && key.level == "off";
  return out;
}

}  // namespace

std::optional<std::uint16_t> slot_of(const KeyView& key) {
  if (key.slot || key.name_truncated) return key.slot;
  return resp::key_slot(key.raw_name);
}

std::vector<Fact> key_facts(const KeyView& key, const HotkeysView& view) {
  std::vector<Fact> out{{"state", state_text(key)}};
  if (!key.reason.empty()) out.push_back({"why", key.reason});
  if (key.rule.empty() && !view.hot_means.empty()) out.push_back({"hot means", view.hot_means});
  if (!key.rule.empty()) out.push_back({"rule", fmt::format("{} ({})", key.rule, key.dimension)});
  out.push_back({"rate", rate_words(key)});
  out.push_back({"reads", reads_text(key)});
  out.push_back({"writes", rate_text(key.writes_rate)});
  if (key.kept_by > 0) out.push_back({"kept by", kept_text(key.kept_by)});
  if (!std::isnan(key.offload))
    out.push_back({"load taken off", tui::signed_percent_text(key.offload) + " of its accesses"});
  if (!std::isnan(key.bytes_rate)) out.push_back({"bytes", count_text(key.bytes_rate) + "B/s"});
  if (key.latency_mean && key.latency_p99) {
    out.push_back(
        {"latency",
         fmt::format("mean {}, p99 {}, measured where the packets are captured",
                     tui::latency_text(*key.latency_mean), tui::latency_text(*key.latency_p99))});
  }
  const double all = accesses_in_window(key);
  if (!key.commands.empty()) out.push_back({"commands", tallies_text(key.commands, all)});
  if (!key.clients.empty()) out.push_back({"clients", tallies_text(key.clients, all)});
  if (!key.limit.empty())
    out.push_back(
        {"limit", fmt::format("{}; {} held back", key.limit, rate_text(key.limited_rate))});
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
                             .replicas = node.replicas,
                             .ttl = key.ttl,
                             .use = use_of(key),
                             .in_force = in_force(key)};
  traffic.workers =
      static_cast<std::uint32_t>(std::clamp<std::uint64_t>(view.node.workers, 1, kWorkersMax));
  if (view.cluster && !view.nodes.empty())
    traffic.masters = static_cast<std::uint32_t>(view.nodes.size());
  advice::AdviceOptions options;
  if (key.max_staleness) options.max_staleness = *key.max_staleness;
  if (node.dimension == "requests" && node.hot > 0) options.limit_rate = std::round(node.hot);
  return advise(traffic, options, place_of(key, view));
}

std::vector<Fact> advice_facts(const KeyView& key, const HotkeysView& view) {
  const advice::Advice advice = advice_on(key, view);
  std::vector<Fact> out;
  const bool says_more = std::ranges::none_of(advice.remedies, [&](const advice::Remedy& remedy) {
    return advice.headline.ends_with(remedy.text);
  });
  if (says_more) out.push_back({"advice", advice.headline});
  for (const advice::Remedy& remedy : advice.remedies)
    out.push_back({remedy.done    ? "done"
                   : remedy.helps ? "helps"
                                  : "no use",
                   fmt::format("{}: {}", to_string(remedy.relief), remedy.text), remedy.lines});
  return out;
}

}  // namespace heatsink::app
