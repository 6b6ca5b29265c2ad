// SPDX-License-Identifier: Apache-2.0
// Keeps what each server last said about its role, and notices a replica that became a master.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/net/address.h"
#include "heatsink/resp/value.h"

namespace heatsink::topology {

enum class Role : std::uint8_t { kUnknown, kMaster, kReplica };

// The reply to ROLE.
struct RoleReply {
  Role role = Role::kUnknown;
  std::int64_t offset = -1;                  // of the replication; -1: not known
  std::optional<net::HostPort> master = {};  // kReplica: whose replica it is
  std::vector<net::HostPort> replicas = {};  // kMaster: those that are connected
  std::string run_id = {};                   // of the process; "": not known
};
// Nothing: it is an error, or no such reply (a Sentinel's).
std::optional<RoleReply> parse_role(const resp::Value& reply);

// One server.
struct ServerRole {
  net::HostPort address;
  Role role = Role::kUnknown;        // as it last said
  std::int64_t replica_offset = -1;  // the highest that it named as a replica
  std::string run_id = {};           // as it last said
  std::optional<net::HostPort> master = {};
  bool is_answering = false;  // it answered the latest question
  bool is_tried = false;      // it answered, or failed, at least once
  TimePoint asked_at{};       // when the question was sent that it last answered
  // It was a replica when it was last seen, and says `master` since then; unset otherwise.
  std::optional<TimePoint> promoted_at = {};
  std::string problem = {};  // why it does not answer
};

// One thread. At most kServersMax servers; further ones are ignored.
class LeaderRoles {
 public:
  static constexpr std::size_t kServersMax = 64;

  // Whether it is new.
  bool add(const net::HostPort& server);
  void remove(const net::HostPort& server);
  // True: with this reply a replica has become a master.
  bool said(const net::HostPort& server, const RoleReply& reply, TimePoint asked_at);
  void failed(const net::HostPort& server, std::string why);
  // The promotion that mattered was followed, or was none.
  void forget_promotions();

  const ServerRole* find(const net::HostPort& server) const;  // null: not known
  // The server that was promoted last, except for `leader`; null: none.
  const ServerRole* promoted(const std::optional<net::HostPort>& leader) const;
  const std::vector<ServerRole>& servers() const { return servers_; }

 private:
  ServerRole* find_mutable(const net::HostPort& server);

  std::vector<ServerRole> servers_;
};

}  // namespace heatsink::topology
