// SPDX-License-Identifier: Apache-2.0
#include "heatsink/upstream/user_servers.h"

#include <algorithm>

namespace heatsink::proxy {

UserServers::User::User(UserServers& all, const redis::Credentials& given)
    : ClientUser{given},
      servers(all.shared_, all.loop_, all.counters_, static_cast<Upstreams::Host&>(*this),
              all.replies_, ++all.random_),
      host_(all.host_) {
  ClientUser::servers = &servers;
}

std::unique_ptr<Upstream> UserServers::User::open(redis::UpstreamAddress& server,
                                                  resp::Protocol protocol, Upstream::Login login,
                                                  ConnectionOwner* owner) {
  std::unique_ptr<Upstream> opened = host_.open(server, protocol, login, owner);
  opened->log_in_as(*this);
  return opened;
}

bool UserServers::has_room_for(const redis::Credentials& credentials) const {
  if (shared_.is_own_login(credentials.user)) return true;
  if (users_.contains({credentials.user, credentials.password})) return true;
  std::size_t users = 0, passwords = 0;
  for (const auto& [key, user] : users_) {
    if (!has_client(user)) continue;
    ++users;
    if (key.first == credentials.user) ++passwords;
  }
  return users < kUsersMax && passwords < kPasswordsMax;
}

std::shared_ptr<const ClientUser> UserServers::of(const redis::Credentials& credentials) {
  std::shared_ptr<User>& user = users_[{credentials.user, credentials.password}];
  if (user == nullptr) user = std::make_shared<User>(*this, credentials);
  user->used_at = loop_.now();
  user->is_old = false;
  user->servers.forget_refusals();
  return user;
}

void UserServers::server_moved() {
  for (auto& [key, user] : users_) user->servers.server_moved();
}

void UserServers::map_changed() {
  for (auto& [key, user] : users_) user->servers.map_changed();
}

void UserServers::check_timeouts(TimePoint now) {
  for (auto& [key, user] : users_) {
    if (has_client(user)) user->used_at = now;
    user->is_old = now - user->used_at > kKeptFor;
    user->servers.check_timeouts(now);
  }
}

void UserServers::wake_ready() {
  for (auto& [key, user] : users_) user->servers.wake_ready();
}

void UserServers::end_turn() {
  if (users_.empty()) return;
  for (auto& [key, user] : users_) user->servers.end_turn();
  // Connections and sessions may be on the call stack until here.
  const bool is_full = users_.size() > kUsersMax;
  std::erase_if(users_, [&](const auto& each) {
    const std::shared_ptr<User>& user = each.second;
    return (is_full || user->is_old) && !has_client(user) && user->servers.is_unused();
  });
}

bool UserServers::owes_nothing() const {
  return std::all_of(users_.begin(), users_.end(),
                     [](const auto& each) { return each.second->servers.owes_nothing(); });
}

void UserServers::shrink() {
  for (auto& [key, user] : users_) user->servers.shrink();
}

std::uint64_t UserServers::memory_bytes() const {
  std::uint64_t bytes = 0;
  for (const auto& [key, user] : users_) {
    bytes += sizeof(User) + 2 * (key.first.size() + key.second.size());
    bytes += user->servers.memory_bytes();
  }
  return bytes;
}

}  // namespace heatsink::proxy
