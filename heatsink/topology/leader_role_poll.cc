// SPDX-License-Identifier: Apache-2.0
#include "heatsink/topology/leader_role_poll.h"

#include <algorithm>
#include <utility>

#include "heatsink/base/printable.h"
#include "heatsink/redis/redis.h"

namespace heatsink::topology {
namespace {

bool same_login(const redis::Credentials& a, const redis::Credentials& b) {
  return a.user == b.user && a.password == b.password;
}

}  // namespace

LeaderPeerOptions LeaderRolePoll::peer_options() const {
  LeaderPeerOptions out;
  out.credentials = used_;
  out.tls = options_.url.tls;
  out.context = options_.tls;
  out.connection = options_.connection;
  return out;
}

void LeaderRolePoll::add(const net::HostPort& server) {
  if (!roles_.add(server)) return;
  if (peers_.empty()) used_ = credentials_();
  peers_.push_back(std::make_unique<LeaderPeer>(loop_, resolver_, server, peer_options(),
                                                "watch of the role of " + server.text()));
}

void LeaderRolePoll::keep(const std::vector<net::HostPort>& servers) {
  std::erase_if(peers_, [&](const std::unique_ptr<LeaderPeer>& each) {
    const bool stays = std::find(servers.begin(), servers.end(), each->address()) != servers.end();
    if (!stays) roles_.remove(each->address());
    return !stays;
  });
  for (const net::HostPort& server : servers) add(server);
}

void LeaderRolePoll::ask() {
  if (const redis::Credentials now = credentials_(); !peers_.empty() && !same_login(now, used_)) {
    used_ = now;
    for (std::unique_ptr<LeaderPeer>& each : peers_) {
      const net::HostPort server = each->address();
      each = std::make_unique<LeaderPeer>(loop_, resolver_, server, peer_options(),
                                          "watch of the role of " + server.text());
    }
  }
  // By index: an answer that comes at once may add a server.
  for (std::size_t i = 0; i < peers_.size(); ++i) {
    LeaderPeer& peer = *peers_[i];
    peer.tick();
    const net::HostPort server = peer.address();
    peer.ask({{"ROLE"}, {"INFO", "server"}},
             [this, server](const Result<std::vector<resp::Value>>& replies, TimePoint asked_at) {
               take(server, replies, asked_at);
             });
  }
}

void LeaderRolePoll::take(const net::HostPort& server,
                          const Result<std::vector<resp::Value>>& replies, TimePoint asked_at) {
  if (!replies.ok()) {
    roles_.failed(server, replies.error().message);
  } else if (auto role = parse_role(replies->front())) {
    // NOPERM: then the offsets alone say whether it was restarted.
    const resp::Value& info = replies->back();
    if (info.is_text()) role->run_id = redis::info_field(info.text, "run_id");
    roles_.said(server, *role, asked_at);
  } else if (replies->front().is_error()) {
    roles_.failed(server, redis::quoted_reply(replies->front()));
  } else {
    roles_.failed(server, "it is no data server: its reply to ROLE is none");
  }
  changed_();
}

LeaderResolver::Addresses LeaderRolePoll::addresses_of(const net::HostPort& server) const {
  for (const std::unique_ptr<LeaderPeer>& each : peers_)
    if (each->address() == server) return each->resolved();
  return {};
}

}  // namespace heatsink::topology
