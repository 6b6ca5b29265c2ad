// SPDX-License-Identifier: Apache-2.0
#include "heatsink/alerts/conditions.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "heatsink/advice/advice.h"
#include "heatsink/advice/lines.h"
#include "heatsink/base/hash.h"
#include "heatsink/base/printable.h"

namespace heatsink::alerts {
namespace {

constexpr Nanos kGapMax = std::chrono::seconds(1);

double seconds_of(Nanos time) { return std::chrono::duration<double>(time).count(); }

// The weight of `step` in a mean over `time`; at first, in the plain mean of what is known.
double weight_of(Nanos step, Nanos time, Nanos known) {
  const double plain = known > Nanos(0) ? seconds_of(step) / seconds_of(known) : 1;
  return std::max(plain, 1 - std::exp(-seconds_of(step) / seconds_of(time)));
}

}  // namespace

void HitRatioMemory::learn(double ratio, TimePoint now) {
  const Nanos step = learned_at_ ? std::min(now - *learned_at_, kGapMax) : kGapMax;
  learned_at_ = now;
  if (step <= Nanos(0)) return;
  learned_ += step;
  usual_ += weight_of(step, kLongTime, learned_) * (ratio - usual_);
  lately_ += weight_of(step, kShortTime, learned_) * (ratio - lately_);
}

namespace {

constexpr std::size_t kNameBytes = 128;

std::string percent(double part) { return fmt::format("{:.1f} %", 100 * part); }

std::string rate_text(double rate) { return fmt::format("{:.0f}/s", rate); }

double requests_of(const report::KeyReport& key) {
  const double seconds = key.counted_seconds();
  const auto accesses = static_cast<double>(key.verdict.count.reads + key.verdict.count.writes);
  return seconds > 0 ? accesses / seconds : 0;
}

// CPU time if all nodes tell it, or else the commands that this proxy sends.
std::vector<advice::NodeLoad> loads_of(const report::SlotsReport& slots) {
  std::vector<advice::NodeLoad> loads;
  loads.reserve(slots.nodes.size());
  for (const report::SlotsReport::Node& node : slots.nodes)
    loads.push_back({printable(node.name), slots.by_cpu ? node.cpu : node.load});
  return loads;
}

double commands_of(const report::SlotsReport& slots) {
  double sum = 0;
  for (const report::SlotsReport::Node& node : slots.nodes) sum += node.load;
  return sum;
}

// A command to copy into a shell. Of a name that the proxy has cut there is none: it would ask
// about another key.
std::string explain_line(const detect::KeyCount& count) {
  if (count.key_truncated) return "'heatsink top' shows it";
  const std::string db = count.db == 0 ? "" : fmt::format("--db {} ", count.db);
  return fmt::format("what takes load off it: heatsink explain {}-- {}", db,
                     advice::shell_name(count.key));
}

// A hash that is the same in every process, as the seeded hash of detection is not.
std::uint64_t lasting_hash(const detect::KeyCount& count) {
  if (!count.key_truncated) return hash_name(count.key, 0).value;
  return count.digest != 0 ? count.digest : count.hash.value;
}

std::string advice_for(const report::KeyReport& key) {
  std::string how = explain_line(key.verdict.count);
  if (key.verdict.temperature == detect::Temperature::kWriteHot)
    return "writes need the server: gather or limit them; " + how;
  if (key.cached) return "a local copy answers its reads; " + how;
  if (!key.cache_note.empty())
    return "it has no copy: " + one_line(key.cache_note, 256) + "; " + how;
  return how;
}

}  // namespace

void Conditions::set(const policy::AlertOptions& options) {
  options_ = options;
  for (std::size_t kind = 0; kind < kKinds; ++kind)
    on_[kind] = policy::alerts_on(options, to_string(static_cast<Kind>(kind)));
}

Nanos Conditions::learns(Kind kind, const policy::AlertOptions& options) {
  // The windows of the report are filled only after some seconds.
  constexpr Nanos kFirstWindows = std::chrono::seconds(30);
  if (kind == Kind::kImbalance) return kFirstWindows + kHoldsFor;
  if (kind == Kind::kHitRatio) return kFirstWindows + HitRatioMemory::kLearns + kHoldsFor;
  return kind == Kind::kServerDown ? options.server_down_after : Nanos(0);
}

bool Conditions::has_held(Kind kind, bool holds, Nanos time, TimePoint now) {
  std::optional<TimePoint>& since = since_[static_cast<std::size_t>(kind)];
  if (!holds) {
    since.reset();
    return false;
  }
  if (!since) since = now;
  return now - *since >= time;
}

void Conditions::add(std::vector<Alert>& out, Alert alert) const {
  if (is_on(alert.kind)) out.push_back(std::move(alert));
}

void Conditions::add_server(std::vector<Alert>& out, const report::Report& report, TimePoint now) {
  if (!has_held(Kind::kServerDown, !report.upstream_up, options_.server_down_after, now)) return;
  const std::string why =
      report.upstream_problem.empty() ? "" : ": " + one_line(report.upstream_problem, 512);
  add(out, {.kind = Kind::kServerDown,
            .subject = printable(report.upstream),
            .summary = "the server " + printable(report.upstream) + " cannot be reached" + why,
            .advice = "mend the server or the network; the proxy connects again by itself",
            .since = *since_[static_cast<std::size_t>(Kind::kServerDown)]});
}

void Conditions::add_stale(std::vector<Alert>& out, const report::Report& report, TimePoint now) {
  if (!stale_known_) stale_known_ = report.stale_confirmed;
  const std::uint64_t found =
      report.stale_confirmed - std::min(*stale_known_, report.stale_confirmed);
  stale_known_ = std::max(*stale_known_, report.stale_confirmed);
  if (found == 0) return;
  add(out, {.kind = Kind::kStale,
            .summary = fmt::format("{} local {} proven stale (since the start: {})", found,
                                   found == 1 ? "copy was" : "copies were", report.stale_confirmed),
            .advice = "the log and /api/events name the keys: "
                      "give them a rule with level: off, or set cache.enabled: no, and report it",
            .since = now});
}

void Conditions::add_imbalance(std::vector<Alert>& out, const report::Report& report,
                               TimePoint now) {
  advice::Imbalance found;
  std::vector<advice::NodeLoad> loads;
  if (report.slots && report.slots->nodes.size() > 1 && commands_of(*report.slots) >= kLoadMin) {
    loads = loads_of(*report.slots);
    found = advice::imbalance_of(loads);
  }
  const bool holds = !loads.empty() && found.max_to_mean >= options_.imbalance;
  if (!has_held(Kind::kImbalance, holds, kHoldsFor, now)) return;
  const std::string& node = loads[found.busiest].name;
  add(out, {.kind = Kind::kImbalance,
            .subject = node,
            .summary = fmt::format("the node {} has {:.1f} times the mean load of the {} nodes",
                                   node, found.max_to_mean, loads.size()),
            .advice = "/api/slots says whether moving slots helps, or one key causes it",
            .since = *since_[static_cast<std::size_t>(Kind::kImbalance)]});
}

void Conditions::add_hit_ratio(std::vector<Alert>& out, const report::Report& report,
                               TimePoint now) {
  if (report.reads_rate >= kLoadMin) hit_ratio_.learn(report.hit_ratio, now);
  const bool holds =
      report.reads_rate >= kLoadMin && hit_ratio_.has_fallen(options_.hit_ratio_fall.part);
  if (!has_held(Kind::kHitRatio, holds, kHoldsFor, now)) return;
  add(out, {.kind = Kind::kHitRatio,
            .summary = "local copies answer " + percent(hit_ratio_.lately()) +
                       " of the reads; the mean of the last hour is " + percent(hit_ratio_.usual()),
            .advice = "heatsink top, page c, says which copies are missing, and why",
            .since = *since_[static_cast<std::size_t>(Kind::kHitRatio)]});
}

void Conditions::add_key(std::vector<Alert>& out, const report::KeyReport& key) const {
  const detect::Verdict& verdict = key.verdict;
  const std::string name = printable(verdict.count.key, kNameBytes);
  const double rate = requests_of(key);
  const bool is_write_hot = verdict.temperature == detect::Temperature::kWriteHot;
  if (verdict.temperature != detect::Temperature::kHot && !is_write_hot) return;
  const bool is_extreme =
      (options_.extremely_hot_qps > 0 && rate >= options_.extremely_hot_qps) ||
      (options_.extremely_hot_share.part > 0 && verdict.share >= options_.extremely_hot_share.part);
  Kind kind = is_write_hot ? Kind::kWriteHot : Kind::kHot;
  if (is_extreme && is_on(Kind::kExtremelyHot)) kind = Kind::kExtremelyHot;
  const std::string_view word = kind == Kind::kExtremelyHot ? "extremely hot" : to_string(kind);
  add(out, {.kind = kind,
            .subject = name,
            .db = verdict.count.db,
            .key_hash = lasting_hash(verdict.count),
            .summary = fmt::format(
                "{}{} is {}: {}, {} of the traffic", name,
                verdict.count.db == 0 ? "" : " (database " + std::to_string(verdict.count.db) + ")",
                word, rate_text(rate), percent(verdict.share)),
            .advice = advice_for(key),
            .rate = rate,
            .share = verdict.share,
            .since = verdict.since});
}

std::vector<Alert> Conditions::observe(const report::Report& report, TimePoint now) {
  std::vector<Alert> out;
  add_server(out, report, now);
  add_stale(out, report, now);
  add_imbalance(out, report, now);
  add_hit_ratio(out, report, now);
  const auto first_key = static_cast<std::ptrdiff_t>(out.size());
  for (const report::KeyReport& key : report.keys) add_key(out, key);
  // A limit on new alerts must not spend itself on keys that are merely hot.
  std::stable_sort(out.begin() + first_key, out.end(), [](const Alert& a, const Alert& b) {
    return severity_of(a.kind) > severity_of(b.kind);
  });
  return out;
}

}  // namespace heatsink::alerts
