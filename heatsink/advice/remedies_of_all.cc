// SPDX-License-Identifier: Apache-2.0
#include "heatsink/advice/remedies_of_all.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "heatsink/advice/remedies_of_reads.h"

namespace heatsink::advice {
namespace {

// From this part of a key's accesses on, one client is named.
constexpr double kOneClient = 0.5;
// A key with a smaller part of its node's requests is not what makes the node busy.
constexpr double kSmallPart = 0.1;
// The part of a limit kept for reads, next to the writes, which it then never holds back.
constexpr double kReadsPart = 0.1;
constexpr double kWritesRoom = 2;

double rate_of_all(const KeyTraffic& key) { return key.reads_rate + key.writes_rate; }

Remedy limited_now(ReliefKind relief, const InForce& now) {
  return {.relief = relief,
          .effect = {},
          .done = true,
          .text = fmt::format("in force: {}; it holds back {:.0f} commands a second", now.limit,
                              now.limited_rate)};
}

bool is_per_client(const InForce& now) { return now.limit.find("per client") != std::string::npos; }
bool is_stale(const InForce& now) { return now.limit.find("stale") != std::string::npos; }

// Rounds up to whole hundreds above a thousand, and so on: limits are round numbers.
double rounded_up(double rate) {
  if (rate <= 10) return std::max(std::ceil(rate), 1.0);
  const double step = std::pow(10, std::floor(std::log10(rate)) - 1);
  return std::ceil(rate / step) * step;
}

}  // namespace

Remedy consider_stale_reads(const Case& of) {
  const KeyTraffic& left = of.left;
  if (is_stale(of.key.in_force)) return limited_now(ReliefKind::kStaleReads, of.key.in_force);
  if (const std::string why = why_no_copies(of); !why.empty())
    return no_use(ReliefKind::kStaleReads, why);
  if (left.writes_rate <= 0)
    return no_use(ReliefKind::kStaleReads,
                  "the key is not written, so its copies are never out of date");
  const double rate = rounded_up(kWritesRoom * left.writes_rate + kReadsPart * left.reads_rate);
  if (rate >= rate_of_all(left))
    return no_use(ReliefKind::kStaleReads,
                  fmt::format("too many writes for its reads: a limit "
                              "that lets its {:.0f} writes a second through holds nothing back",
                              left.writes_rate));
  // A key that is not hot has no copy to serve.
  const double hot = std::max(std::floor(rate_of_all(of.key) / 10), 1.0);
  return remedy(ReliefKind::kStaleReads,
                unproven_reads(left, rate, of.options.lifetime, of.options.costs),
                fmt::format("at {:g}/s, the other reads get the last copy, up to {} old, "
                            "so level key no longer holds",
                            rate, format_duration(10 * of.options.max_staleness)),
                rule_lines(of.place, {"window: 1s", fmt::format("hot-qps: {:.0f}", hot),
                                      fmt::format("limit: {{rate: {:g}/s, over: stale}}", rate)}));
}

Remedy consider_limit(const Case& of) {
  if (!of.key.in_force.limit.empty() && !is_per_client(of.key.in_force) &&
      !is_stale(of.key.in_force))
    return limited_now(ReliefKind::kLimit, of.key.in_force);
  const double all = rate_of_all(of.left);
  const double rate = of.options.limit_rate;
  if (all <= rate)
    return no_use(ReliefKind::kLimit,
                  fmt::format("at most {:g}/s of its requests reach the server", rate));
  return remedy(
      ReliefKind::kLimit, limit(of.left, rate, of.options.costs),
      fmt::format("at {:g}/s, {:.0f} requests a second are refused (with over: delay they wait)",
                  rate, all - rate),
      rule_lines(of.place, {fmt::format("limit: {{rate: {:g}/s, over: reject}}", rate)}));
}

Remedy consider_client_limit(const Case& of) {
  const KeyUse& use = of.key.use;
  if (is_per_client(of.key.in_force)) return limited_now(ReliefKind::kClientLimit, of.key.in_force);
  if (use.first_client <= 0)
    return no_use(ReliefKind::kClientLimit, "its clients are not known here");
  if (use.first_client < kOneClient || use.clients < 2)
    return no_use(
        ReliefKind::kClientLimit,
        fmt::format("no client stands out: the busiest one makes {} of its accesses{}",
                    percent(use.first_client), use.clients < 2 ? ", and there is no other" : ""));
  const double all = rate_of_all(of.left);
  const double rate = rounded_up(2 * use.second_client * all);
  const double over = std::max(use.first_client * all - rate, 0.0);
  return remedy(ReliefKind::kClientLimit, limit(of.left, all - over, of.options.costs),
                fmt::format("at {:g}/s for each client, twice the rate of the second busiest: "
                            "{:.0f} requests a second of the busiest ({} of all) are refused",
                            rate, over, percent(use.first_client)),
                rule_lines(of.place, {fmt::format("limit: {{rate: {:g}/s, per: client}}", rate)}));
}

Remedy consider_slots(const Case& of) {
  if (of.key.masters <= 1)
    return no_use(ReliefKind::kSlots, "there is only one master, so no other node to move it to");
  const double part = of.key.node_rate > 0 ? rate_of_all(of.left) / of.key.node_rate : 1;
  if (of.key.node_rate <= 0 || part >= kSmallPart)
    return no_use(ReliefKind::kSlots, "moves its load to another node, but takes no load off");
  Remedy out = no_use(
      ReliefKind::kSlots,
      fmt::format(
          "the key has {} of its node's requests: if the node is too busy, look at its slots",
          percent(part)));
  out.lines = {fmt::format("heatsink top {} --source slots", server_url(of.place))};
  return out;
}

}  // namespace heatsink::advice
