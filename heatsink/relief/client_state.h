// SPDX-License-Identifier: Apache-2.0
// Keeps the state that a server would keep for a client's connection: protocol, user, name,
// database, transaction and subscriptions. The proxy keeps it, because clients share connections.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/command/spread_verb.h"
#include "heatsink/copies/touched_keys.h"
#include "heatsink/redis/credentials.h"
#include "heatsink/relief/node_wait.h"
#include "heatsink/relief/subscription.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// What AUTH or HELLO asks for.
struct LoginAsked {
  redis::Credentials credentials;  // without a user: HELLO that asks for none
  std::optional<std::string> name;
};

// Data of a session, and only the session changes it. It stands apart from the session, so that
// each can be read by itself.
struct ClientState {
  enum class User : std::uint8_t { kUnauthenticated, kShared, kOther };

  // Messages may arrive: the server has confirmed a subscription, and not yet its end.
  bool receives_messages() const { return receives_messages_; }
  // The client wants messages, or its last UNSUBSCRIBE is still on its way.
  bool subscribed() const {
    return !channels_.empty() || !patterns_.empty() || !shard_channels_.empty() ||
           !subscribing_.empty();
  }
  // A SUBSCRIBE is in flight that the server may refuse (ACL). The number of channels, and so of
  // the confirmations of an UNSUBSCRIBE, is unknown until then.
  bool subscribes_in_flight() const {
    return !transaction_channels_.empty() ||
           std::any_of(subscribing_.begin(), subscribing_.end(),
                       [](const Subscribing& each) { return !each.added.empty(); });
  }
  bool transaction_failed() const { return !transaction_refusal_.empty(); }
  // The reply to EXEC decides about the client's subscriptions or protocol, command by command.
  bool needs_exec_reply() const { return !transaction_channels_.empty() || transaction_hello_; }
  // Memory of its containers that a client can make large; approximate.
  std::size_t memory_bytes() const {
    return channels_.memory_bytes() + patterns_.memory_bytes() + shard_channels_.memory_bytes() +
           transaction_channels_.capacity() * sizeof(QueuedSubscription) +
           transaction_.size() * sizeof(copies::TouchedKey);
  }
  void drop_queued() {
    std::vector<QueuedSubscription>().swap(transaction_channels_);  // frees it, unlike clear()
    transaction_names_ = false;
    transaction_hello_.reset();
  }

  resp::Protocol protocol_ = resp::Protocol::kResp2;
  User user_ = User::kShared;
  std::uint64_t user_hash_ = 0;              // with kOther: the hash of the user's name
  std::string user_name_;                    // with kOther
  std::unique_ptr<LoginAsked> login_asked_;  // null: no AUTH and no HELLO is in flight
  std::string name_;
  std::string library_name_, library_version_;  // CLIENT SETINFO
  // The client keeps its private connection until it leaves or sends RESET.
  bool pinned_ = false;
  bool introduced_ = false;  // the private connection carries the client's name for good
  bool lent_name_ = false;   // ... or until it is given back
  bool replicates_ = false;  // after SYNC or PSYNC: the stream is the server's data
  // When the client last ran a script, which it now believes the server to have; unset: never. See
  // Session::server_left().
  TimePoint ran_script_at_{};
  std::uint32_t db_ = 0;
  WrittenNodes written_;  // for WAIT
  bool in_multi_ = false;
  bool watching_ = false;
  bool watch_refused_ = false;  // the proxy refused a WATCH: the next MULTI must not execute
  // Why the transaction never reached the server; each of its commands is answered with this error.
  std::string transaction_refusal_;
  bool no_local_reads_ =
      false;  // the client tracks by itself, or changed state inside a transaction: no local reads
  bool reply_off_ = false;
  bool reply_skip_ = false;
  copies::TouchedKeys transaction_;
  SpreadKeysWritten transaction_spread_;
  bool transaction_unknown_ = false;
  bool transaction_flush_ = false;
  bool transaction_runs_code_ = false;
  bool transaction_changes_access_ = false;
  std::size_t transaction_queued_ = 0;  // queued commands: the elements of the reply to EXEC
  bool transaction_names_ = false;      // contains CLIENT SETNAME
  std::optional<QueuedHello> transaction_hello_;  // the last HELLO
  bool name_owed_ = false;                        // introduce() follows after the transaction
  std::vector<QueuedSubscription> transaction_channels_;
  bool receives_messages_ = false;
  Channels channels_, patterns_, shard_channels_;
  std::list<Subscribing> subscribing_;  // not a deque, which takes 600 bytes while it is empty
};

}  // namespace heatsink::proxy
