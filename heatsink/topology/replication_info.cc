// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/replication_info.h"

#include <charconv>

#include "heatsink/redis/info_text.h"

namespace heatsink::topology {
namespace {

constexpr std::size_t kHistoryBytesMax = 64;  // servers have 40
constexpr std::size_t kNameBytesMax = 253;
constexpr std::size_t kPortBytesMax = 5;

template <class Number>
std::optional<Number> whole_number(std::string_view text) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return number;
}

// One value of "ip=10.0.0.1,port=6379,state=online".
std::string_view part_of_line(std::string_view line, std::string_view name) {
  while (!line.empty()) {
    const std::size_t comma = line.find(',');
    const std::string_view part = line.substr(0, comma);
    if (part.starts_with(name) && part.substr(name.size(), 1) == "=")
      return part.substr(name.size() + 1);
    if (comma == std::string_view::npos) return {};
    line.remove_prefix(comma + 1);
  }
  return {};
}

std::optional<net::HostPort> replica_of_line(std::string_view line) {
  const std::string_view host = part_of_line(line, "ip");
  const auto port = whole_number<std::uint16_t>(part_of_line(line, "port"));
  if (host.empty() || host.size() > kNameBytesMax || !port || *port == 0) return std::nullopt;
  return net::HostPort{std::string(host), *port};
}

}  // namespace

std::optional<ReplicationInfo> parse_replication(std::string_view info) {
  const std::string_view role = redis::info_field(info, "role");
  const std::string_view history = redis::info_field(info, "master_replid");
  ReplicationInfo out;
  if (role == "master") out.role = Role::kMaster;
  if (role == "slave" || role == "replica") out.role = Role::kReplica;
  if (out.role == Role::kUnknown || history.empty() || history.size() > kHistoryBytesMax)
    return std::nullopt;
  out.history = history;
  const bool is_master = out.role == Role::kMaster;
  const auto offset = whole_number<std::int64_t>(
      redis::info_field(info, is_master ? "master_repl_offset" : "slave_repl_offset"));
  if (!offset || *offset < 0) {
    // A replica that has never been linked has none.
    if (is_master) return std::nullopt;
  } else {
    out.offset = *offset;
  }
  const std::string_view host = redis::info_field(info, "master_host");
  const std::string_view port = redis::info_field(info, "master_port");
  if (!is_master && !host.empty() && host.size() <= kNameBytesMax)
    out.follows = std::string(host) + ":" + std::string(port.substr(0, kPortBytesMax));
  out.is_linked = redis::info_field(info, "master_link_status") == "up";
  out.is_syncing = redis::info_field(info, "master_sync_in_progress") == "1";
  for (std::size_t i = 0; is_master && i < ReplicationInfo::kReplicasMax; ++i) {
    const std::string_view line = redis::info_field(info, "slave" + std::to_string(i));
    if (line.empty()) break;
    if (auto replica = replica_of_line(line)) out.replicas.push_back(*std::move(replica));
  }
  return out;
}

}  // namespace heatsink::topology
