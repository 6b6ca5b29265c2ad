// SPDX-License-Identifier: Apache-2.0
// Keeps the state that a server would keep for a client's connection: protocol, user, name,
// database, and whether it is in a transaction. The proxy keeps it, because clients share
// connections.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "heatsink/base/clock.h"
#include "heatsink/redis/credentials.h"
#include "heatsink/relief/node_wait.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// What AUTH or HELLO asks for.
struct LoginAsked {
  redis::Credentials credentials;  // without a user: HELLO that asks for none
  std::optional<std::string> name;
};

// How the client keeps values in a cache of its own, with invalidations of the proxy
// (session/near_client.h).
struct NearMode {
  bool is_on = false;
  bool opts_in = false;       // it keeps only what it announces
  bool opts_out = false;      // it keeps all but what it announces
  bool skips_own = false;     // NOLOOP
  bool says_caching = false;  // CLIENT CACHING, for the next command
};

// Data of a session, and only the session changes it. It stands apart from the session, so that
// each can be read by itself.
struct ClientState {
  enum class User : std::uint8_t { kUnauthenticated, kShared, kOther };

  // The client wants messages, or its last UNSUBSCRIBE is still on its way.
  bool subscribed() const { return subscribed_; }
  // The transaction never reached the server: each of its commands is answered with an error.
  bool transaction_failed() const { return transaction_failed_; }

  resp::Protocol protocol_ = resp::Protocol::kResp2;
  User user_ = User::kShared;
  std::uint64_t user_hash_ = 0;              // with kOther: the hash of the user's name
  std::string user_name_;                    // with kOther
  std::unique_ptr<LoginAsked> login_asked_;  // null: no AUTH and no HELLO is in flight
  std::string name_;
  std::string library_name_, library_version_;  // CLIENT SETINFO
  bool stores_in_order_ = false;                // NearClient::stores_in_order() of its name
  // The client keeps its private connection until it leaves or sends RESET.
  bool pinned_ = false;
  bool introduced_ = false;  // the private connection carries the client's name for good
  bool lent_name_ = false;   // ... or until it is given back
  bool replicates_ = false;  // after SYNC or PSYNC: the stream is the server's data
  std::uint32_t db_ = 0;
  // When the client last ran a script, which it now believes the server to have; unset: never. See
  // Session::server_left().
  TimePoint ran_script_at_{};
  WrittenNodes written_;   // for WAIT
  bool in_multi_ = false;  // these four: changed by Transaction, and by RESET
  bool watching_ = false;
  // The proxy has refused a WATCH by itself: the next MULTI must not execute.
  bool watch_refused_ = false;
  bool transaction_failed_ = false;
  bool no_local_reads_ =
      false;  // the client tracks by itself, or changed state inside a transaction: no local reads
  bool reply_off_ = false;
  bool reply_skip_ = false;
  bool name_owed_ = false;   // introduce() follows after the transaction
  NearMode near_mode_;       // changed by NearClient, and by RESET
  bool subscribed_ = false;  // changed by Subscriptions, and by RESET
};

}  // namespace heatsink::proxy
