// SPDX-License-Identifier: Apache-2.0
// Describes which servers may execute a request: by the slot of its keys, and whether its reply may
// lag.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heatsink/resp/resp.h"

namespace heatsink::copies {
struct NodeState;
}  // namespace heatsink::copies

namespace heatsink::redis {
class UpstreamAddress;
}  // namespace heatsink::redis

namespace heatsink::proxy {

struct Request;

// Computes nothing until asked, because with one server no code asks. A view: the request or key
// must outlive it.
class Destination {
 public:
  // Any server: a command without keys, or one of the proxy's own.
  static Destination any() { return {}; }
  static Destination of_key(std::string_view key) {
    return Destination(nullptr, key, Behind::kOwnWrite);
  }
  static Destination of_slot(std::uint16_t slot) {
    Destination to;
    to.slot_ = slot;
    return to;
  }
  // Exactly this server, whatever it owns.
  static Destination at(redis::UpstreamAddress& server) {
    Destination to;
    to.server_ = &server;
    return to;
  }
  // Whether the client has a write in flight, which the request must follow.
  enum class Behind : std::uint8_t { kNothing, kOwnWrite };
  static Destination of(const Request& request, Behind behind) {
    return Destination(&request, {}, behind);
  }

  // Null: the slot decides.
  redis::UpstreamAddress* server() const { return server_; }
  // The slot of the first key, or of the shard channel (Redis Cluster Specification, "Key
  // distribution model"); a server refuses requests with keys in several slots. nullopt: neither.
  // Cost per call: finding the first key, and a CRC16 of it.
  std::optional<std::uint16_t> slot() const;
  // A replica may answer, although it may not have seen the latest writes yet. The request changes
  // nothing, runs no code, and names its keys; their rules ask for no more than level ttl; and it
  // is not behind a write of its own client.
  bool may_lag(const copies::NodeState& shared) const;

 private:
  Destination() = default;
  Destination(const Request* request, std::optional<std::string_view> key, Behind behind)
      : request_(request), key_(key), behind_(behind) {}

  const Request* request_ = nullptr;
  std::optional<std::string_view> key_;
  Behind behind_ = Behind::kOwnWrite;
  redis::UpstreamAddress* server_ = nullptr;
  std::optional<std::uint16_t> slot_;
};

}  // namespace heatsink::proxy
