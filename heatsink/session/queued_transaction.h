// SPDX-License-Identifier: Apache-2.0
// Holds the commands between MULTI and EXEC while the proxy, and not a server, queues them, and
// what a client's transaction is to another process.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace heatsink::proxy {

// In front of a cluster the first key decides which node executes the transaction, and that node
// may refuse it: then the proxy sends the whole of it to the next one. Data of a session.
struct QueuedTransaction {
  static constexpr std::size_t kCommandsMax = 100'000;

  std::vector<std::string> requests;  // in wire form
  std::size_t bytes = 0;              // of `requests`
  std::optional<std::uint16_t> slot;  // of all keys; nullopt: no key yet
  std::vector<std::string> scripts;   // SHA-1 of those that EVALSHA calls
  bool failed = false;                // a command was refused: EXEC executes nothing
  bool watches = false;               // a WATCH came before MULTI
  // While the server answers: the text with which it has refused to queue a command, for EXEC.
  std::string refusal = {};
};

// What one process gives to another of a client's transaction. Data of a session.
struct CarriedTransaction {
  bool flush = false;
  bool changes_access = false;
  bool names = false;
  std::string refusal = {};
  std::size_t queued = 0;
  std::optional<std::uint16_t> watched_slot = {};
  std::optional<QueuedTransaction> queue = {};
};

}  // namespace heatsink::proxy
