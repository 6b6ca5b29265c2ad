// SPDX-License-Identifier: Apache-2.0
#include "heatsink/relief/client_names.h"

#include <utility>

namespace heatsink::proxy {
namespace {

// Removes the port, and the brackets of IPv6.
std::string_view address_of(std::string_view peer) {
  std::string_view address = peer.substr(0, peer.rfind(':'));
  if (address.starts_with('[') && address.ends_with(']'))
    address = address.substr(1, address.size() - 2);
  return address;
}

}  // namespace

std::uint32_t ClientNames::enter(std::string_view peer, TimePoint now) {
  const std::string address(address_of(peer));
  const std::lock_guard lock(mutex_);
  auto found = numbers_.find(address);
  if (found == numbers_.end()) {
    const std::uint32_t number = take_number(now);
    if (number == kOthers) return kOthers;
    clients_[number] = {address, 0, {}};
    found = numbers_.emplace(address, number).first;
  }
  ++clients_[found->second].connections;
  return found->second;
}

void ClientNames::leave(std::uint32_t number, TimePoint now) {
  const std::lock_guard lock(mutex_);
  if (number >= clients_.size()) return;
  Client& client = clients_[number];
  if (--client.connections > 0) return;
  client.left_at = now;
  gone_.push_back({number, now});
  // Clients that reconnect for ever add an entry each time, but only the latest of each counts.
  if (gone_.size() > 2 * static_cast<std::size_t>(kClientsMax))
    std::erase_if(gone_, [this](const Gone& gone) { return !is_gone(gone); });
}

// std::string keeps an IPv4 address without an allocation, so the two copies of it cost no more.
std::size_t ClientNames::memory_bytes() const {
  constexpr std::size_t kNode = sizeof(std::string) + 4 * sizeof(void*);
  const std::lock_guard lock(mutex_);
  return clients_.capacity() * sizeof(Client) + numbers_.size() * kNode +
         gone_.size() * sizeof(Gone);
}

bool ClientNames::is_gone(const Gone& gone) const {
  const Client& client = clients_[gone.number];
  return client.connections == 0 && client.left_at == gone.at;
}

std::uint32_t ClientNames::take_number(TimePoint now) {
  if (clients_.size() < kClientsMax) {
    clients_.emplace_back();
    return static_cast<std::uint32_t>(clients_.size() - 1);
  }
  while (!gone_.empty() && now - gone_.front().at > kRemembered) {
    const Gone gone = gone_.front();
    gone_.pop_front();
    if (!is_gone(gone)) continue;
    numbers_.erase(clients_[gone.number].address);
    return gone.number;
  }
  return kOthers;
}

std::string ClientNames::name(std::uint32_t number) const {
  const std::lock_guard lock(mutex_);
  return number < clients_.size() ? clients_[number].address : "others";
}

}  // namespace heatsink::proxy
