// SPDX-License-Identifier: Apache-2.0
#include "heatsink/redis/upstream_address.h"

#include <utility>

namespace heatsink::redis {

UpstreamAddress::UpstreamAddress(net::RedisUrl url, Resolved resolved)
    : resolved_(resolved), url_(std::move(url)) {}

net::RedisUrl UpstreamAddress::url() const {
  const std::lock_guard lock(mutex_);
  return url_;
}

std::string UpstreamAddress::where() const {
  const std::lock_guard lock(mutex_);
  return url_.where();
}

std::string UpstreamAddress::unreachable(std::string_view why) const {
  return "upstream " + where() + " is not reachable: " + std::string(why);
}

std::vector<net::ResolvedAddress> UpstreamAddress::addresses() const {
  const std::lock_guard lock(mutex_);
  return addresses_;
}

void UpstreamAddress::set_addresses(std::vector<net::ResolvedAddress> addresses) {
  const std::lock_guard lock(mutex_);
  addresses_ = std::move(addresses);
}

Status UpstreamAddress::look_up() {
  if (resolved_ == Resolved::kElsewhere) {
    const std::lock_guard lock(mutex_);
    if (!addresses_.empty()) return Unit{};
    return Error{ErrorCode::kUnavailable,
                 withheld_.empty() ? "its host name has no address yet" : withheld_};
  }
  Result<std::vector<net::ResolvedAddress>> found = net::resolve_server(url());
  if (!found.ok()) return found.error();
  set_addresses(std::move(found).value());
  return Unit{};
}

void UpstreamAddress::move_to(const net::HostPort& server,
                              std::vector<net::ResolvedAddress> addresses) {
  const std::lock_guard lock(mutex_);
  url_.address = server;
  url_.topology = net::Topology::kServer;
  url_.others.clear();
  url_.master_name.clear();
  addresses_ = std::move(addresses);
  withheld_.clear();
  is_withheld_.store(false, std::memory_order_release);
  moves_.fetch_add(1, std::memory_order_acq_rel);
}

void UpstreamAddress::withhold(std::string why) {
  const std::lock_guard lock(mutex_);
  addresses_.clear();
  withheld_ = std::move(why);
  is_withheld_.store(true, std::memory_order_release);
  moves_.fetch_add(1, std::memory_order_acq_rel);
}

std::string UpstreamAddress::withheld() const {
  const std::lock_guard lock(mutex_);
  return withheld_;
}

net::TlsContext UpstreamAddress::tls() const {
  const std::lock_guard lock(mutex_);
  return resolved_ == Resolved::kElsewhere ? tls_.for_server(url_.address.host) : tls_;
}

void UpstreamAddress::set_tls(net::TlsContext context) {
  const std::lock_guard lock(mutex_);
  tls_ = std::move(context);
}

}  // namespace heatsink::redis
