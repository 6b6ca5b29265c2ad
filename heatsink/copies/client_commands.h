// SPDX-License-Identifier: Apache-2.0
// Counts the commands of each client's address.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace heatsink::copies {

// A worker's thread counts, any thread reads. Clients have small numbers, as in an Access. 4 bytes
// for each number, allocated by the thousand; none of it is freed before the end.
class ClientCommands {
 public:
  static constexpr std::uint32_t kClientsMax = 66 * 1024;  // higher numbers are counted as the last

  ClientCommands() = default;
  ~ClientCommands();
  ClientCommands(const ClientCommands&) = delete;
  ClientCommands& operator=(const ClientCommands&) = delete;

  // The worker: all commands since the last call are of this client. `total`: of all clients, which
  // the worker counts anyway, so that a command costs nothing more. Two additions.
  void note(std::uint32_t client, std::uint64_t total) {
    const std::uint64_t since = total - noted_;
    if (since == 0) return;
    noted_ = total;
    add(client, static_cast<std::uint32_t>(since));
  }

  // Any thread: adds the counts by number, modulo 2^32. O(highest number).
  void add_to(std::vector<std::uint32_t>& counts) const;
  std::size_t memory_bytes() const;  // any thread; what is allocated

 private:
  static constexpr std::uint32_t kChunk = 1024;
  using Chunk = std::array<std::atomic<std::uint32_t>, kChunk>;

  void add(std::uint32_t client, std::uint32_t commands);

  std::uint64_t noted_ = 0;
  std::array<std::atomic<Chunk*>, kClientsMax / kChunk> chunks_{};
};

}  // namespace heatsink::copies
