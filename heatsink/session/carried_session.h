// SPDX-License-Identifier: Apache-2.0
// A client's session as one process gives it to another: plain values, and their bytes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "heatsink/base/result.h"
#include "heatsink/redis/credentials.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/resp/resp.h"
#include "heatsink/session/channels.h"
#include "heatsink/session/queued_transaction.h"
#include "heatsink/upstream/carried_private.h"

namespace heatsink::proxy {

// The blocking command that it has sent on its private connection.
struct CarriedWaiting {
  std::string request;
  std::uint64_t connection = 0;  // the connection's id on the server; 0: unknown
  bool silent = false;
};

// Holds no copied value and no hash: hashes differ between processes. A private connection to the
// server goes along with its login, so that a user's rights need no password; in front of a cluster
// a user needs one for the connections to come (docs/decisions/0084).
struct CarriedSession {
  // The numbers of the layouts: 1 knows nothing of what is marked with 2 below, and 2 nothing of
  // SubscribedNames::hears_hot, and 3 nothing of ClientState::near_mode_.
  static constexpr std::uint32_t kOldestLayout = 1;
  static constexpr std::uint32_t kLayout = 4;
  // The layout that a process of this version of the hand-over reads (handover/message.h).
  static constexpr std::uint32_t layout_for(std::uint32_t version) {
    return version >= 4 ? std::min(version - 1, kLayout) : std::min<std::uint32_t>(version, 2);
  }
  // A client with more of it stays until its request is complete.
  static constexpr std::size_t kInputMax = 64 * 1024;
  static constexpr std::size_t kWaitingRequestMax = 32 * 1024;
  static constexpr std::size_t kNameMax = 4096;
  static constexpr std::size_t kQueuedMax = 64 * 1024;  // of a transaction's requests
  static constexpr std::size_t kLoginMax = 16 * 1024;   // of a name or a password

  using Private = CarriedPrivate;
  using Waiting = CarriedWaiting;

  std::uint64_t id = 0;
  ClientState state;  // of it: what encode() names
  SubscribedNames subscriptions;
  CarriedTransaction transaction;
  std::string input;  // bytes of the client that are not processed yet
  bool is_raw = false;
  bool ran_script = false;
  std::optional<Private> private_connection;
  std::optional<Waiting> waiting;

  // 2, with ClientState::replicates_, and of `transaction` refusal, queued, watched_slot and queue:
  bool has_written = false;                 // WAIT has something to wait for
  bool listens = false;                     // at nodes of a cluster (node_listeners.h)
  std::uint32_t nodes = 0;                  // how many connections to nodes go along
  std::optional<redis::Credentials> login;  // of a user of its own, in front of a cluster
};

// In a layout that the reader knows.
std::string encode(const CarriedSession& session, std::uint32_t layout = CarriedSession::kLayout);
// Of any bytes. Error: they are no session that this version could have written.
Result<CarriedSession> decode_session(std::string_view bytes);

}  // namespace heatsink::proxy
