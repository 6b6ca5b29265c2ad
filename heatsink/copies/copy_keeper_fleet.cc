// SPDX-License-Identifier: Apache-2.0
// The keeper's part of a fleet: reports its counts, and gives the selector those of all proxies.
#include <algorithm>
#include <optional>
#include <random>

#include <fmt/format.h>

#include "heatsink/base/log.h"
#include "heatsink/copies/copy_keeper.h"

namespace heatsink::copies {
namespace {

fleet::LinkOptions link_options(NodeState& shared) {
  const policy::ProxyOptions& options = shared.options();
  std::random_device random;
  fleet::LinkOptions link;
  link.url = shared.upstream;
  link.url.user = shared.credentials().user;
  link.url.password = shared.credentials().password;
  link.tls = shared.upstream_address.tls();
  if (topology::is_watched(shared.upstream)) link.followed = &shared.upstream_address;
  link.server.connect_timeout = options.connect_timeout;
  link.server.response_timeout = options.response_timeout;
  link.server.backoff_min = options.backoff_min;
  link.server.backoff_max = options.backoff_max;
  link.server.translate = options.upstream_translate;
  link.server.commands = &shared.own_commands;
  link.member.fleet = options.fleet_name;
  link.member.shards = static_cast<std::uint64_t>(options.fleet_shards);
  link.member.id = fmt::format("{:08x}{:08x}", random(), random());
  link.member.interval = options.fleet_interval;
  link.member.seed = shared.seed;
  link.member.random_seed = random();
  // By the rules of the moment: a reload may change them.
  link.member.matters = [&shared](const detect::Measure& measure, std::uint64_t instances) {
    return fleet::matters_by(shared.rules(), shared.options().burst.part, measure, instances);
  };
  return link;
}

}  // namespace

void CopyKeeper::begin_fleet() {
  if (!shared_.options().fleet_enabled) return;
  // A new list is judged at once; the tick may be a second away.
  fleet_ = std::make_unique<fleet::Link>(
      loop_, link_options(shared_), [this] { return merged_; }, [this] { judges_ = true; });
  alone_as_ = static_cast<std::uint64_t>(shared_.options().fleet_size);
  fleet_->begin();
}

// While the fleet is not known, each proxy goes on alone: with its part of the thresholds, by the
// number of instances that were known last. So hot keys stay hot.
void CopyKeeper::follow_fleet(TimePoint now) {
  if (!fleet_) return;
  const fleet::Member& member = fleet_->member();
  const fleet::List list = member.list(now);
  if (list != fleet_list_) {
    fleet_list_ = list;
    fleet_windows_.clear();
    if (list) fleet_windows_ = fleet::windows_of(*list, shared_.rules().measures());
  }
  const std::uint64_t instances = member.instances();
  shared_.fleet_instances.store(fleet::rounded_instances(instances), std::memory_order_relaxed);
  if (shared_.shared_limits) shared_.shared_limits->set_instances(instances);
  policy::ProxyOptions options = shared_.options();
  if (list || instances > 1) options.fleet_size = list ? 1 : static_cast<std::int64_t>(instances);
  if (static_cast<std::uint64_t>(options.fleet_size) == alone_as_) return;
  alone_as_ = static_cast<std::uint64_t>(options.fleet_size);
  const auto shown = [this](std::string_view name) { return shared_.shown.show(name); };
  selector_.reconfigure(
      policy::selector_options(options, policy::rule_set(options, shown).value()));
}

// A key that is hot in the fleet has its share of readers here, even if none has come yet.
bool CopyKeeper::is_worth_holding_in_fleet(const detect::Verdict& verdict) const {
  if (!verdict.fleet) return false;
  detect::KeyCount part = verdict.count;
  part.reads = verdict.fleet->reads / std::max<std::uint64_t>(verdict.fleet->instances, 1);
  part.writes = verdict.fleet->writes;  // each of them ends the copy here, too
  return is_worth_holding(part);
}

std::optional<report::FleetReport> CopyKeeper::report_on_fleet() const {
  if (!fleet_) return std::nullopt;
  const TimePoint now = loop_.clock();
  const fleet::Member& member = fleet_->member();
  report::FleetReport report;
  report.name = shared_.options().fleet_name;
  report.is_known = member.list(now) != nullptr;
  report.instances = member.instances();
  if (const Nanos age = member.list_age(now); age != Nanos::max()) report.age = age;
  report.merges = member.merges();
  report.problem = member.problem();
  report.reports = member.counts().reports;
  report.failures = member.counts().failures;
  report.merged = member.counts().merger.merges;
  report.broken = member.counts().merger.broken;
  return report;
}

}  // namespace heatsink::copies
