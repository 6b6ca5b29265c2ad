// SPDX-License-Identifier: Apache-2.0
// Resolves the names of hosts in the background, for a loop that must not wait for a name server.
#pragma once

#include <cstddef>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "heatsink/base/result.h"
#include "heatsink/net/net.h"

namespace heatsink::topology {

inline bool same_address(const net::ResolvedAddress& a, const net::ResolvedAddress& b) {
  return a.length == b.length && std::memcmp(a.bytes, b.bytes, a.length) == 0;
}

// The loop's thread. Each look-up of a name has a thread of its own for as long as it lasts, at
// most kLookUpsMax at once; further ones fail. Numeric addresses need none.
class LeaderResolver {
 public:
  using Addresses = std::vector<net::ResolvedAddress>;
  using Done = std::function<void(Result<Addresses>)>;
  static constexpr std::size_t kLookUpsMax = 16;

  explicit LeaderResolver(net::EventLoop& loop);
  ~LeaderResolver();  // look-ups that still run are ignored
  LeaderResolver(const LeaderResolver&) = delete;

  // Calls `done` at once for a numeric host; otherwise later, unless this object is destroyed.
  void resolve(const net::HostPort& address, const Done& done);
  static bool is_numeric(const std::string& host);

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace heatsink::topology
