// SPDX-License-Identifier: Apache-2.0
// Describes which servers may execute a request: by the slot of its keys, and whether it only
// reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

struct Request;

// Computes nothing until asked, because with one server no code asks. A view: the request or key
// must outlive it.
class Destination {
 public:
  // Any server: a command without keys, or one of the proxy's own.
  static Destination any() { return {}; }
  static Destination of_key(std::string_view key) { return Destination(nullptr, key); }
  static Destination of(const Request& request) { return Destination(&request, {}); }

  // The slot of the first key (Redis Cluster Specification, "Key distribution model"); a server
  // refuses requests with keys in several slots. nullopt: no key. Cost per call: finding the keys,
  // and a CRC16 of one.
  std::optional<std::uint16_t> slot() const;
  // The request changes nothing, so a replica may answer it.
  bool only_reads() const;

 private:
  Destination() = default;
  Destination(const Request* request, std::optional<std::string_view> key)
      : request_(request), key_(key) {}

  const Request* request_ = nullptr;
  std::optional<std::string_view> key_;
};

}  // namespace heatsink::proxy
