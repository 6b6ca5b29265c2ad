// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>

#include "heatsink/base/printable.h"
#include "heatsink/base/units.h"
#include "heatsink/doctor/check.h"

namespace heatsink::doctor {
namespace {

struct Trackers {
  std::uint64_t of_heatsink = 0;  // named as the proxy's and the library's trackers are
  std::uint64_t others = 0;
};

// The value of " field=value " in a line.
std::string_view value_of(std::string_view line, std::string_view field) {
  for (std::size_t at = line.find(field); at != std::string_view::npos;
       at = line.find(field, at + 1)) {
    if (at != 0 && line[at - 1] != ' ') continue;
    line.remove_prefix(at + field.size());
    return line.substr(0, line.find(' '));
  }
  return "";
}

// `list`: a line per client, "id=3 addr=... name=heatsink-tracker ... flags=t ...". Does not count
// heatsink-doctor. O(text).
Trackers trackers_in(std::string_view list) {
  Trackers out;
  while (!list.empty()) {
    const std::size_t end = std::min(list.find('\n'), list.size());
    const std::string_view line = list.substr(0, end);
    list.remove_prefix(std::min(end + 1, list.size()));
    if (value_of(line, "flags=").find('t') == std::string_view::npos) continue;
    const std::string_view name = value_of(line, "name=");
    if (name == "heatsink-doctor") continue;
    ++(name.starts_with("heatsink-") ? out.of_heatsink : out.others);
  }
  return out;
}

std::string text_of(Nanos time) {
  const double ms = std::chrono::duration<double, std::milli>(time).count();
  return ms < 1 ? fmt::format("{:.2f} ms", ms) : fmt::format("{:.1f} ms", ms);
}

bool wants_copies(const Facts& facts) { return facts.options.cache_enabled; }

void check_tracking(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  if (!wants_copies(facts)) {
    out.push_back({Level::kNote, "cache.enabled is false",
                   "no local copies; hot keys are only found", "set it to true"});
    return;
  }
  if (const std::string_view error = server.error("CLIENT TRACKING ON"); !error.empty()) {
    out.push_back({Level::kError, "CLIENT TRACKING does not work: \"" + printable(error) + "\"",
                   "no local copies",
                   "connect to a Redis 6 or newer itself, with a user who may run it; see rights"});
    return;
  }
  if (server.reply("CLIENT TRACKING ON") == nullptr) return;
  switch (server.push_test) {
    case PushTest::kNotTried:
      out.push_back(
          {Level::kOk, "CLIENT TRACKING is accepted; a real push is tested with --write-test"});
      return;
    case PushTest::kArrived:
      out.push_back({Level::kOk, "CLIENT TRACKING works: the push about a written key came after " +
                                     text_of(server.push_delay)});
      return;
    case PushTest::kRefused:
      out.push_back({Level::kNote, "a push was not tested: " + printable(server.push_problem),
                     "CLIENT TRACKING is accepted, but its pushes are not proven",
                     "run the test with a user who may write keys heatsink:doctor:*"});
      return;
    case PushTest::kMissing:
      out.push_back(
          {Level::kError,
           "no push came after a tracked key was written: " + printable(server.push_problem),
           "copies would be served after a write, "
           "up to cache.max-staleness or cache.expire-after-write",
           "connect to the server itself: what stands between does not pass pushes on; "
           "until then switch copies off",
           "heatsink proxy --set cache.enabled=false"});
      return;
  }
}

void check_proxies(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  const resp::Value* const list = server.reply("CLIENT LIST");
  if (list == nullptr) {
    if (const std::string_view error = server.error("CLIENT LIST"); !error.empty()) {
      out.push_back({Level::kNote, "other proxies cannot be counted: \"" + printable(error) + "\"",
                     "the size of the tracking table is judged for one proxy",
                     "let heatsink doctor run as an administrator"});
    }
    return;
  }
  // Each tracker sends one heartbeat of two commands per interval.
  constexpr std::uint64_t kHeartbeatsNoted = 2000;  // per second; a few percent of a core
  const Trackers trackers = trackers_in(list->text);
  const double per_second = static_cast<double>(trackers.of_heatsink) /
                            std::chrono::duration<double>(facts.options.heartbeat_interval).count();
  const std::string said =
      fmt::format("the server tracks keys for {} of heatsink and {} other{}", trackers.of_heatsink,
                  trackers.others, trackers.others == 1 ? " client" : " clients");
  if (per_second >= static_cast<double>(kHeartbeatsNoted)) {
    out.push_back({Level::kNote,
                   fmt::format("{}: about {:.0f} heartbeats per second", said, per_second),
                   "each costs the server a few microseconds",
                   "raise cache.heartbeat-interval; at most half of cache.max-staleness",
                   "cache: {heartbeat-interval: 500ms}"});
    return;
  }
  out.push_back({Level::kOk, said + (trackers.of_heatsink > 1
                                         ? "; they may share the heartbeat key, which is only read"
                                         : "")});
}

void check_table(const Facts& facts, Findings& out) {
  const ServerFacts& server = facts.server;
  const std::optional<double> most = server.config_number("tracking-table-max-keys");
  if (!most || !wants_copies(facts)) return;
  if (*most == 0) {
    out.push_back({Level::kOk, "tracking-table-max-keys is 0: no limit"});
    return;
  }
  const resp::Value* const list = server.reply("CLIENT LIST");
  const std::uint64_t proxies =
      list == nullptr ? 1 : std::max<std::uint64_t>(1, trackers_in(list->text).of_heatsink);
  const double needed =
      static_cast<double>(proxies) * static_cast<double>(facts.options.maximum_tracked_keys);
  const std::string said = fmt::format(
      "tracking-table-max-keys is {:.0f}; {} {} need up to {:.0f} (cache.maximum-tracked-keys)",
      *most, proxies, proxies == 1 ? "proxy may" : "proxies may", needed);
  if (needed <= *most) {
    out.push_back({Level::kOk, said});
    return;
  }
  out.push_back(
      {Level::kWarning, said,
       "past it the server forgets random keys, and their copies end early, again and again",
       "raise it (about 100 bytes of the server's memory per key), "
       "or lower cache.maximum-tracked-keys",
       fmt::format("CONFIG SET tracking-table-max-keys {:.0f}", needed)});
}

void check_latency(const Facts& facts, Findings& out) {
  const RoundTrips& trips = facts.server.round_trips;
  if (trips.count == 0) return;
  const std::string said =
      fmt::format("{} round trips: median {}, p99 {}, longest {}", trips.count,
                  text_of(trips.median), text_of(trips.p99), text_of(trips.longest));
  const Nanos staleness = facts.options.max_staleness;
  const Nanos heartbeat = facts.options.heartbeat_interval;
  // A proof counts from when its heartbeat was sent, so it is as old as the round trip on arrival.
  if (wants_copies(facts) && trips.median + heartbeat >= staleness) {
    out.push_back({Level::kError,
                   said + ", too long for cache.max-staleness " + format_duration(staleness),
                   "no proof of freshness is young enough, so copies are never served",
                   "run the proxy nearer to the server, or allow more staleness",
                   "cache: {max-staleness: 5s}"});
    return;
  }
  if (wants_copies(facts) && trips.p99 + heartbeat >= staleness) {
    out.push_back({Level::kWarning, said + "; cache.max-staleness is " + format_duration(staleness),
                   "while it is slow, reads go to the server instead of copies",
                   "look for slow commands on the server (SLOWLOG GET), and at the network; "
                   "or raise cache.max-staleness"});
    return;
  }
  if (wants_copies(facts) && trips.p99 >= heartbeat) {
    out.push_back({Level::kNote,
                   said + "; cache.heartbeat-interval is " + format_duration(heartbeat),
                   "a session-level read may wait that long for its proof",
                   "look for slow commands on the server: SLOWLOG GET"});
    return;
  }
  out.push_back({Level::kOk, said});
}

void check_server_clock(const Facts& facts, Findings& out) {
  if (!facts.server.clock_ahead) return;
  constexpr std::chrono::seconds kMost(2);
  const Nanos ahead = *facts.server.clock_ahead;
  const double s = std::chrono::duration<double>(ahead).count();
  const std::string said = fmt::format("the server's wall clock is {:.1f} s {} ours", std::abs(s),
                                       s < 0 ? "behind" : "ahead of");
  if (std::chrono::abs(ahead) < kMost) {
    out.push_back({Level::kOk, "the server's wall clock agrees with ours"});
    return;
  }
  out.push_back({Level::kNote, said,
                 "keys that clients expire at a time of day (EXPIREAT) end by the server's clock; "
                 "copies do not depend on it",
                 "synchronize both clocks", "timedatectl set-ntp true"});
}

}  // namespace

std::span<const Check> tracking_checks() {
  static constexpr std::array<Check, 5> kRows = {{
      {"tracking",
       "Whether the server accepts CLIENT TRACKING. With --write-test also whether a push arrives: "
       "a key heatsink:doctor:NUMBER is written and deleted, and expires after 5 s in any case.",
       Needs::kData, When::kConnect, check_tracking},
      {"other-proxies", "Which other trackers the server has, by the names in CLIENT LIST.",
       Needs::kData, When::kStart, check_proxies},
      {"tracking-table",
       "Whether tracking-table-max-keys holds cache.maximum-tracked-keys of each proxy.",
       Needs::kData, When::kStart, check_table},
      {"latency", "Round trips of PING, against cache.heartbeat-interval and cache.max-staleness.",
       Needs::kLogin, When::kStart, check_latency},
      {"server-clock", "The server's TIME against the wall clock of this machine.", Needs::kData,
       When::kStart, check_server_clock},
  }};
  return kRows;
}

}  // namespace heatsink::doctor
