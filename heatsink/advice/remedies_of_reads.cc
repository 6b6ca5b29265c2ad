// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/remedies_of_reads.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heatsink::advice {
namespace {

std::string bytes(Bytes size) {
  if (size.count < 10'240) return fmt::format("{} B", size.count);
  return fmt::format("{:.1f} KiB", static_cast<double>(size.count) / 1024);
}

std::string in_each_holder(const Effect& effect, const KeyTraffic& key) {
  if (!key.value)
    return fmt::format("{} plus the value in each process that holds a copy", bytes(effect.memory));
  return key.holders > 1
             ? fmt::format("{} in each of {} processes", bytes(effect.memory), key.holders)
             : bytes(effect.memory) + " of memory";
}

double rate_of(const KeyTraffic& key) { return key.reads_rate + key.writes_rate; }

// A threshold that the key exceeds by day and by night: half of its rate, as an integer.
double threshold_for(double rate) { return std::max(std::floor(rate / 2), 1.0); }

// The settings of a rule that make the proxy call the key hot, and copy it.
Lines settings_for_copies(const Case& of) {
  Lines out;
  if (of.place.is_level_off) out.emplace_back("level: key");
  const double rate = rate_of(of.key);
  if (rate < of.place.hot_rate) out.push_back(fmt::format("hot-qps: {:.0f}", threshold_for(rate)));
  const double reads_per_write =
      of.key.writes_rate > 0 ? of.key.reads_rate / of.key.writes_rate : of.options.write_hot_ratio;
  if (reads_per_write < of.options.write_hot_ratio)
    out.push_back(fmt::format("write-hot-ratio: {:.1f}", reads_per_write / 2));
  return out;
}

// If no setting is needed, the proxy copies the key by itself when it is hot; the order loads the
// copy now.
Lines lines_for_copies(const Case& of) {
  const Lines settings = settings_for_copies(of);
  if (!settings.empty()) return rule_lines(of.place, settings);
  if (of.place.has_proxy) return warm_lines(of.place);
  return {"heatsink proxy --set upstream.url=" + server_url(of.place)};
}

// The part of the key's whole traffic that existing copies take off.
Effect effect_of_hits(const Case& of) {
  const double before = server_time(of.key, of.options.costs);
  KeyTraffic without_hits = of.key;
  without_hits.reads_rate = of.left.reads_rate;
  const double after = server_time(without_hits, of.options.costs);
  Effect out;
  if (before > 0) out.key_removed = 1 - after / before;
  if (of.key.node_rate > 0)
    out.node_removed = std::min((of.key.reads_rate - of.left.reads_rate) / of.key.node_rate, 1.0);
  return out;
}

// The remaining traffic for processes that each hold a copy: all clients that are known.
KeyTraffic in_each_process(const Case& of) {
  KeyTraffic out = of.left;
  out.holders = static_cast<std::uint32_t>(std::clamp<std::size_t>(of.key.use.clients, 1, 65'536));
  return out;
}

Lines lines_for_library(const Case& of, const char* option, const std::string& value,
                        const char* loader) {
  const auto name = of.place.name ? quoted(*of.place.name) : std::nullopt;
  return {"#include <heatsink/client.h>",
          fmt::format("auto config = heatsink::ClientOptions().with(\"{}\", \"{}\").value();",
                      option, value),
          "heatsink::Client client(config);",
          fmt::format("client.get({}{});", name.value_or("key"), loader)};
}

}  // namespace

std::string why_no_copies(const Case& of) {
  if (!of.key.reads_can_be_local) return "local copies do not serve the commands that read it";
  if (of.key.value && *of.key.value > of.options.value_bytes_max)
    return fmt::format(
        "its value has {}, more than cache.maximum-value-bytes ({}): make the value smaller",
        bytes(*of.key.value), format_bytes(of.options.value_bytes_max));
  return "";
}

Remedy consider_copies(const Case& of) {
  if (of.key.in_force.hit_ratio > 0) {
    const Effect effect = effect_of_hits(of);
    return {.relief = ReliefKind::kCoherentCopies,
            .effect = effect,
            .done = true,
            .text = fmt::format("they answer {} of its reads, which {}",
                                percent(of.key.in_force.hit_ratio), taken_off(effect))};
  }
  if (const std::string why = why_no_copies(of); !why.empty())
    return no_use(ReliefKind::kCoherentCopies, why);
  const Effect effect = coherent_copies(of.left, of.options.lifetime, of.options.costs);
  return remedy(
      ReliefKind::kCoherentCopies, effect,
      fmt::format(
          "{}; a write by another client is seen when its invalidation arrives, after at most {}",
          in_each_holder(effect, of.key), format_duration(of.options.max_staleness)),
      lines_for_copies(of));
}

// The effect is that of copies, without waiting until the key is hot; if it has copies, it applies
// the next time.
Remedy consider_warming(const Case& of) {
  Remedy out{.relief = ReliefKind::kWarming, .effect = {}, .text = {}};
  out.done = of.key.in_force.warmed;
  if (out.done) {
    out.text = "the key is being warmed: it stays hot and loaded";
    return out;
  }
  if (const std::string why = why_no_copies(of); !why.empty())
    return no_use(ReliefKind::kWarming, "there is no copy to load: " + why);
  if (of.key.in_force.hit_ratio > 0) {
    out.text = "takes off nothing more now; before the next rush it loads the key and keeps it";
  } else {
    const Effect effect = coherent_copies(of.left, of.options.lifetime, of.options.costs);
    out = remedy(ReliefKind::kWarming, effect, "the effect of local copies, from now on", {});
  }
  const bool is_a_loss = out.effect.key_removed < 0;
  if (of.place.has_proxy && !is_a_loss) out.lines = warm_lines(of.place);
  return out;
}

Remedy consider_library(const Case& of) {
  if (const std::string why = why_no_copies(of); !why.empty())
    return no_use(ReliefKind::kLibrary, why);
  const KeyTraffic each = in_each_process(of);
  const std::string server = server_url(of.place);
  Remedy out =
      remedy(ReliefKind::kLibrary, coherent_copies(each, of.options.lifetime, of.options.costs),
             fmt::format("a copy in each of at least {} processes, and no round trip; needs code",
                         each.holders),
             lines_for_library(of, "server.url", server, ""));
  if (of.key.in_force.hit_ratio == 0 || out.effect.key_removed < kHelpful) return out;
  out.text += "; the proxy's copies take off as much";
  out.helps = false;
  return out;
}

Remedy consider_expiry(const Case& of) {
  if (!of.key.ttl)
    return no_use(ReliefKind::kOneReadAtExpiry,
                  "no TTL is known for it, so there is no stampede when it ends");
  if (of.key.in_force.hit_ratio == 0)
    return no_use(ReliefKind::kOneReadAtExpiry,
                  "without a local copy every reader asks the server when its TTL ends");
  return {.relief = ReliefKind::kOneReadAtExpiry,
          .effect = {},
          .done = true,
          .text = "when its TTL ends, one read reaches the server, however many clients wait"};
}

Remedy consider_stale_while_error(const Case& of) {
  const Nanos now = of.key.in_force.stale_while_error;
  if (now > Nanos(0)) {
    return {.relief = ReliefKind::kStaleWhileError,
            .effect = {},
            .done = true,
            .text = fmt::format("its copy is served for {} while the server cannot be reached",
                                format_duration(now))};
  }
  Remedy out =
      no_use(ReliefKind::kStaleWhileError,
             "takes no load off, but keeps a hot key readable while the server cannot be reached");
  if (of.key.in_force.hit_ratio == 0) return out;
  out.lines =
      rule_lines(of.place, {"stale-while-error: " + format_duration(of.options.stale_while_error)});
  return out;
}

// For a library without tracking, to which no server reports writes. It is not the proxy's level
// ttl: there an invalidation drops the copy.
Remedy consider_copies_by_age(const Case& of, Nanos age) {
  const KeyTraffic each = in_each_process(of);
  const Effect effect = aging_copies(each, age, of.options.costs);
  return remedy(ReliefKind::kAgingCopies, effect,
                fmt::format("kept for {0}: {1}; up to {0} stale; needs code", format_duration(age),
                            in_each_holder(effect, each)),
                lines_for_library(of, "cache.expire-after-write", format_duration(age), ", load"));
}

Remedy consider_replicas(const Case& of) {
  if (!of.key.replicas)
    return no_use(ReliefKind::kReplicaReads, "it is not known here whether its node has replicas");
  if (*of.key.replicas == 0) return no_use(ReliefKind::kReplicaReads, "its node has no replica");
  return remedy(
      ReliefKind::kReplicaReads, replica_reads(of.left, *of.key.replicas, of.options.costs),
      fmt::format("reads go to {} replicas too, and are stale by the replication lag",
                  *of.key.replicas),
      {"redis.RedisCluster.from_url(\"" + server_url(of.place) + "\", read_from_replicas=True)"});
}

Remedy consider_splitting(const Case& of) {
  const std::uint32_t copies = of.key.masters;
  if (copies <= 1)
    return no_use(ReliefKind::kSplit,
                  "there is only one master, so all copies would be on the same node");
  const auto name = of.place.name ? quoted(*of.place.name) : std::nullopt;
  Lines lines;
  if (name) {
    lines = {fmt::format("names = [f\"{{i}}:\" + {} for i in range({})]", *name, copies),
             "value = r.get(random.choice(names))           # a read",
             "for name in names: r.set(name, value)         # a write"};
  }
  return remedy(ReliefKind::kSplit, split(of.left, copies, of.options.costs),
                fmt::format("{0} copies, one on each node: each write becomes {0} writes", copies),
                std::move(lines));
}

}  // namespace heatsink::advice
