// SPDX-License-Identifier: Apache-2.0
// Says which servers may carry out a request: by the slot of its keys, and whether it only reads.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

struct Request;

// Computes nothing before it is asked: with one server nobody asks. A view of the request or key,
// which outlives it.
class Destination {
 public:
  // Any server will do: a command without keys, or a question of the proxy's own.
  static Destination any() { return {}; }
  static Destination of_key(std::string_view key) { return Destination(nullptr, key); }
  static Destination of(const Request& request) { return Destination(&request, {}); }

  // Of its first key (Redis Cluster Specification, "Key distribution model"); a server refuses
  // requests whose keys are in several slots. Nothing: it has no key. Cost: a look for the keys
  // and a CRC16 of one of them, at each call.
  std::optional<std::uint16_t> slot() const;
  // It changes nothing, so a replica may answer it.
  bool only_reads() const;

 private:
  Destination() = default;
  Destination(const Request* request, std::optional<std::string_view> key)
      : request_(request), key_(key) {}

  const Request* request_ = nullptr;
  std::optional<std::string_view> key_;
};

}  // namespace heatsink::proxy
