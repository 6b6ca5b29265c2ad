// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/replica_leader.h"

#include <algorithm>
#include <utility>

namespace heatsink::topology {
namespace {

std::vector<net::HostPort> masters_in(const LeaderRoles& roles) {
  std::vector<net::HostPort> out;
  out.reserve(roles.servers().size());
  for (const ServerRole& each : roles.servers())
    if (each.is_answering && each.role == Role::kMaster) out.push_back(each.address);
  return out;
}

std::string text_of(const std::vector<net::HostPort>& servers) {
  std::string out;
  for (const net::HostPort& each : servers) out += (out.empty() ? "" : " and ") + each.text();
  return out;
}

std::string several(const std::vector<net::HostPort>& masters) {
  return text_of(masters) +
         " say that they are masters: "
         "make all but one a replica (REPLICAOF), or take the other addresses out of upstream.url";
}

std::string described(const ServerRole& server) {
  std::string out = server.address.text();
  if (!server.is_answering)
    return out + ": " + (server.is_tried ? server.problem : "no answer yet");
  if (server.role == Role::kReplica)
    out += server.master ? " is a replica of " + server.master->text() : " is a replica";
  return out;
}

std::string none(const LeaderRoles& roles) {
  std::string out;
  for (const ServerRole& each : roles.servers()) out += (out.empty() ? "" : "; ") + described(each);
  return "no server says that it is a master (" + out +
         "): check the addresses in upstream.url, and the servers";
}

}  // namespace

LeaderVerdict ReplicaLeader::decide(LeaderRoles& roles, TimePoint now) {
  if (leader_) {
    const ServerRole* const own = roles.find(*leader_);
    if (const ServerRole* const promoted = roles.promoted(leader_)) {
      leader_ = promoted->address;
      roles.forget_promotions();
    } else if (own != nullptr && own->is_answering && own->role == Role::kReplica) {
      former_ = std::exchange(leader_, std::nullopt);
    }
  }
  LeaderVerdict verdict;
  if (!leader_) verdict.problem = choose(roles, now);
  if (!leader_) return verdict;
  verdict.leader = leader_;
  verdict.confirmed_at = TimePoint::max();
  const std::vector<net::HostPort> masters = masters_in(roles);
  if (masters.size() > 1)
    verdict.problem = several(masters) + "; until then " + leader_->text() + " is used";
  return verdict;
}

// Sets leader_, or returns why there is none.
std::string ReplicaLeader::choose(LeaderRoles& roles, TimePoint now) {
  const bool all_tried = std::all_of(roles.servers().begin(), roles.servers().end(),
                                     [](const ServerRole& each) { return each.is_tried; });
  if (!all_tried && now - begun_at_ < kFirstAnswers)
    return "waiting for the first answers of the servers";
  const std::vector<net::HostPort> masters = masters_in(roles);
  if (masters.empty()) return none(roles);
  if (masters.size() == 1) {
    leader_ = masters.front();
  } else if (const ServerRole* const promoted = roles.promoted(std::nullopt)) {
    leader_ = promoted->address;
  } else if (const ServerRole* const old = former_ ? roles.find(*former_) : nullptr;
             old != nullptr && old->role == Role::kReplica && old->master &&
             std::find(masters.begin(), masters.end(), *old->master) != masters.end()) {
    leader_ = old->master;
  }
  if (!leader_) return several(masters);
  roles.forget_promotions();
  return "";
}

}  // namespace heatsink::topology
