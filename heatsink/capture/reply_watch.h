// SPDX-License-Identifier: Apache-2.0
// Chooses the connections whose replies a capture reads. It reads all requests.
#pragma once

#include <cstdint>

namespace heatsink::capture {

// Divides connections into kParts parts by the client's port. Each part is watched or not.
struct ReplyWatch {
  static constexpr unsigned kParts = 8;
  static constexpr unsigned kAll = (1U << kParts) - 1;

  unsigned parts = kAll;  // one bit per part

  // Linux gives ports of one parity to connect(), so the lowest bit is the same for most clients.
  static unsigned part_of(std::uint16_t client_port) { return (client_port >> 1U) % kParts; }
  static ReplyWatch only(unsigned part) { return {1U << part}; }

  bool covers(std::uint16_t client_port) const { return (parts >> part_of(client_port) & 1U) != 0; }
  // The parts that both watch.
  ReplyWatch common(ReplyWatch other) const { return {parts & other.parts}; }
  friend bool operator==(const ReplyWatch&, const ReplyWatch&) = default;
};

}  // namespace heatsink::capture
