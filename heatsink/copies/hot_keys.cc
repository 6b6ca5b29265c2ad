// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/hot_keys.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace heatsink::copies {
namespace {

// The bounds that a summary proves for a key, whether it lists the key or not.
detect::KeyCount count_in(const detect::Summary& summary, detect::KeyCount key) {
  const auto found =
      std::find_if(summary.keys.begin(), summary.keys.end(),
                   [&key](const detect::KeyCount& each) { return each.hash == key.hash; });
  if (found != summary.keys.end()) return *found;
  key.high = summary.absent_max;
  return key;
}

}  // namespace

HotKeys::HotKeys(NodeState& shared)
    : shared_(shared),
      counts_(shared.rules().measures(), static_cast<std::size_t>(shared.options().workers)),
      selector_(policy::selector_options(shared.options(), shared.rules())),
      fleet_(shared) {}

void HotKeys::begin_fleet(net::EventLoop& loop, std::function<void()> on_list) {
  fleet_.begin(
      loop, [this] { return counts_.windows(); }, std::move(on_list));
}

std::vector<detect::Change> HotKeys::judge(TimePoint now) {
  counts_.merge();
  if (const auto divided = fleet_.follow(now)) selector_.reconfigure(*divided);
  return selector_.update(counts_.windows(), fleet_.windows());
}

void HotKeys::follow_policy() {
  const PolicySnapshot& policy = shared_.current();
  counts_.follow(policy.rules.measures());
  selector_.reconfigure(policy::selector_options(policy.options, policy.rules));
  fleet_.follow_options();
}

bool HotKeys::is_hot(KeyHash key) const {
  return std::any_of(verdicts().begin(), verdicts().end(), [key](const detect::Verdict& verdict) {
    return verdict.count.hash == key && verdict.temperature == detect::Temperature::kHot;
  });
}

std::size_t HotKeys::count() const {
  return static_cast<std::size_t>(
      std::count_if(verdicts().begin(), verdicts().end(), [](const detect::Verdict& verdict) {
        return verdict.temperature != detect::Temperature::kWarm;
      }));
}

bool HotKeys::is_sampled() const {
  return std::any_of(counts_.windows().begin(), counts_.windows().end(),
                     [](const detect::Summary& merged) { return merged.sampled; });
}

double HotKeys::accesses_rate(const detect::Verdict& verdict) const {
  if (verdict.measure.dimension == detect::Dimension::kRequests) return verdict.rate;
  const double seconds = counted_seconds(verdict.measure);
  if (seconds <= 0) return 0;
  return static_cast<double>(verdict.count.reads + verdict.count.writes) / seconds;
}

std::int64_t HotKeys::spared(const detect::Verdict& verdict, double counted_seconds,
                             TimePoint now) const {
  return shared_.key_loads.spared(verdict.count.hash, verdict.count.hits, counted_seconds, now);
}

std::optional<std::string> HotKeys::name_of(KeyHash key) const {
  for (const detect::Verdict& verdict : verdicts())
    if (verdict.count.hash == key && !verdict.count.key_truncated) return verdict.count.key;
  return std::nullopt;
}

detect::Verdict HotKeys::cold_verdict(const std::string& name, std::uint32_t db,
                                      TimePoint since) const {
  detect::KeyCount key;
  key.hash = in_db(hash_name(name, shared_.seed), db);
  key.key = name.substr(0, detect::kKeyBytesMax);
  key.key_truncated = name.size() > detect::kKeyBytesMax;
  key.db = db;
  const detect::Rule& rule = shared_.rules().of(key.key, !key.key_truncated);
  const detect::Summary& summary = counts_.windows()[shared_.rules().measure_of(rule)];
  detect::Verdict out;
  out.count = count_in(summary, std::move(key));
  out.measure = rule.measure;
  out.rule = rule.name;
  out.since = since;
  const double seconds = summary.seconds();
  if (seconds > 0) {
    out.rate = out.rate_low = static_cast<double>(out.count.low) / seconds;
    out.rate_high = static_cast<double>(out.count.high) / seconds;
  }
  const auto total = static_cast<double>(summary.total());
  if (total > 0) out.share = static_cast<double>(out.count.low) / total;
  out.reason = "at most " + std::to_string(std::llround(std::ceil(out.rate_high))) +
               "/s; a key is warm from " + std::to_string(std::llround(rule.warm)) + "/s";
  return out;
}

}  // namespace heatsink::copies
