// SPDX-License-Identifier: Apache-2.0
// Describes which servers may execute a request: by the slot of its keys.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heatsink/resp/resp.h"

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
    Destination to;
    to.key_ = key;
    return to;
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
  static Destination of(const Request& request) {
    Destination to;
    to.request_ = &request;
    return to;
  }

  // Null: the slot decides.
  redis::UpstreamAddress* server() const { return server_; }
  // The slot of the first key, or of the shard channel (Redis Cluster Specification, "Key
  // distribution model"); a server refuses requests with keys in several slots. nullopt: neither.
  // Cost per call: finding the first key, and a CRC16 of it.
  std::optional<std::uint16_t> slot() const;

 private:
  Destination() = default;

  const Request* request_ = nullptr;
  std::optional<std::string_view> key_;
  redis::UpstreamAddress* server_ = nullptr;
  std::optional<std::uint16_t> slot_;
};

}  // namespace heatsink::proxy
