// SPDX-License-Identifier: Apache-2.0
#include "heatsink/copies/fleet_counts.h"

#include <algorithm>
#include <random>
#include <string_view>
#include <utility>

#include <fmt/format.h>

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

void FleetCounts::begin(net::EventLoop& loop, fleet::Link::Counted counted,
                        fleet::Link::OnList on_list) {
  if (!shared_.options().fleet_enabled) return;
  link_ = std::make_unique<fleet::Link>(loop, link_options(shared_), std::move(counted),
                                        std::move(on_list));
  alone_as_ = static_cast<std::uint64_t>(shared_.options().fleet_size);
  link_->begin();
}

void FleetCounts::set_credentials(const redis::Credentials& credentials) {
  if (link_) link_->set_credentials(credentials.user, credentials.password);
}

std::optional<detect::SelectorOptions> FleetCounts::follow(TimePoint now) {
  if (!link_) return std::nullopt;
  return take(link_->member().list(now), link_->member().instances());
}

std::optional<detect::SelectorOptions> FleetCounts::take(const fleet::List& list,
                                                         std::uint64_t instances) {
  if (list != list_) {
    list_ = list;
    windows_.clear();
    if (list) windows_ = fleet::windows_of(*list, shared_.rules().measures());
  }
  shared_.fleet_instances.store(fleet::rounded_instances(instances), std::memory_order_relaxed);
  if (shared_.shared_limits) shared_.shared_limits->set_instances(instances);
  policy::ProxyOptions options = shared_.options();
  if (list || instances > 1) options.fleet_size = list ? 1 : static_cast<std::int64_t>(instances);
  if (static_cast<std::uint64_t>(options.fleet_size) == alone_as_) return std::nullopt;
  alone_as_ = static_cast<std::uint64_t>(options.fleet_size);
  const auto shown = [this](std::string_view name) { return shared_.shown.show(name); };
  return policy::selector_options(options, policy::rule_set(options, shown).value());
}

void FleetCounts::follow_options() {
  alone_as_ = static_cast<std::uint64_t>(shared_.options().fleet_size);
  list_ = nullptr;
  windows_.clear();
}

std::optional<report::FleetReport> FleetCounts::report(TimePoint now) const {
  if (!link_) return std::nullopt;
  const fleet::Member& member = link_->member();
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
