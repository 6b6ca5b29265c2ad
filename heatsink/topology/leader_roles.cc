// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/leader_roles.h"

#include <algorithm>
#include <charconv>
#include <utility>

namespace heatsink::topology {
namespace {

using resp::Value;

constexpr std::size_t kRoleHostBytesMax = 253;

std::optional<std::int64_t> number_of(const Value& value) {
  if (value.type == Value::Type::kInteger) return value.integer;
  if (!value.is_text()) return std::nullopt;
  std::int64_t number = 0;
  const char* const end = value.text.data() + value.text.size();
  const auto [stop, error] = std::from_chars(value.text.data(), end, number);
  if (error != std::errc{} || stop != end) return std::nullopt;
  return number;
}

std::optional<net::HostPort> address_of(const Value& host, const Value& port) {
  const std::optional<std::int64_t> number = number_of(port);
  const bool is_good = host.is_text() && !host.text.empty() &&
                       host.text.size() <= kRoleHostBytesMax && number && *number > 0 &&
                       *number <= 65535;
  if (!is_good) return std::nullopt;
  return net::HostPort{host.text, static_cast<std::uint16_t>(*number)};
}

}  // namespace

// A master: ["master", offset, [[host, port, offset], ...]]. A replica: ["slave", host, port,
// state, offset].
std::optional<RoleReply> parse_role(const Value& reply) {
  if (reply.type != Value::Type::kArray || reply.items.size() < 3 || !reply.items[0].is_text())
    return std::nullopt;
  const std::string& name = reply.items[0].text;
  RoleReply out;
  if (name == "master") {
    out.role = Role::kMaster;
    out.offset = number_of(reply.items[1]).value_or(-1);
    for (const Value& each : reply.items[2].items) {
      if (each.items.size() < 2 || out.replicas.size() >= LeaderRoles::kServersMax) continue;
      if (auto address = address_of(each.items[0], each.items[1]))
        out.replicas.push_back(*std::move(address));
    }
    return out;
  }
  if (name != "slave" && name != "replica") return std::nullopt;
  out.role = Role::kReplica;
  out.master = address_of(reply.items[1], reply.items[2]);
  if (reply.items.size() > 4) out.offset = number_of(reply.items[4]).value_or(-1);
  return out;
}

bool LeaderRoles::add(const net::HostPort& server) {
  if (find(server) != nullptr || servers_.size() >= kServersMax) return false;
  servers_.push_back({server});
  return true;
}

void LeaderRoles::remove(const net::HostPort& server) {
  std::erase_if(servers_, [&](const ServerRole& each) { return each.address == server; });
}

// A replica that was restarted without its configuration is a master, too, and may be empty: that
// is no promotion. A promoted one is the same process, and goes on counting where it was.
bool LeaderRoles::said(const net::HostPort& server, const RoleReply& reply, TimePoint asked_at) {
  ServerRole* const found = find_mutable(server);
  if (found == nullptr) return false;
  const Role before = std::exchange(found->role, reply.role);
  const std::string process_before = std::exchange(found->run_id, reply.run_id);
  found->is_answering = found->is_tried = true;
  found->asked_at = asked_at;
  found->problem.clear();
  found->master = reply.master;
  if (reply.role == Role::kReplica) {
    found->replica_offset = std::max(found->replica_offset, reply.offset);
    found->promoted_at.reset();
    return false;
  }
  const bool knows_process = !process_before.empty() && !reply.run_id.empty();
  const bool is_same_process = !knows_process || process_before == reply.run_id;
  const bool is_promoted =
      before == Role::kReplica && is_same_process && reply.offset >= found->replica_offset;
  if (is_promoted) found->promoted_at = asked_at;
  found->replica_offset = -1;
  return is_promoted;
}

void LeaderRoles::failed(const net::HostPort& server, std::string why) {
  ServerRole* const found = find_mutable(server);
  if (found == nullptr) return;
  found->is_answering = false;
  found->is_tried = true;
  found->problem = std::move(why);
}

void LeaderRoles::forget_promotions() {
  for (ServerRole& each : servers_) each.promoted_at.reset();
}

const ServerRole* LeaderRoles::find(const net::HostPort& server) const {
  const auto found = std::find_if(servers_.begin(), servers_.end(),
                                  [&](const ServerRole& each) { return each.address == server; });
  return found == servers_.end() ? nullptr : &*found;
}

ServerRole* LeaderRoles::find_mutable(const net::HostPort& server) {
  const auto found = std::find_if(servers_.begin(), servers_.end(),
                                  [&](const ServerRole& each) { return each.address == server; });
  return found == servers_.end() ? nullptr : &*found;
}

const ServerRole* LeaderRoles::promoted(const std::optional<net::HostPort>& leader) const {
  const ServerRole* latest = nullptr;
  for (const ServerRole& each : servers_) {
    if (!each.promoted_at || (leader && each.address == *leader)) continue;
    if (latest == nullptr || *each.promoted_at > *latest->promoted_at) latest = &each;
  }
  return latest;
}

}  // namespace heatsink::topology
