// SPDX-License-Identifier: Apache-2.0
// What a server keeps of a client's connection: its protocol, user, name, database, transaction,
// and subscriptions. Here the proxy keeps it, because clients share connections.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/copies/touched_keys.h"
#include "heatsink/proxy/subscription.h"
#include "heatsink/resp/resp.h"

namespace heatsink::proxy {

// Data of a session, which alone changes it; apart from it, so that both can be read.
struct ClientState {
  enum class User : std::uint8_t { kUnauthenticated, kShared, kOther };

  // Messages may come now: the server has confirmed a subscription, and not yet its end.
  bool hears_messages() const { return hears_messages_; }
  // The client wants messages (also while the last UNSUBSCRIBE is on its way).
  bool subscribed() const {
    return !channels_.empty() || !patterns_.empty() || !shard_channels_.empty() ||
           !subscribing_.empty();
  }
  // The server may refuse one of these (ACL). How many channels there are then decides how many
  // confirmations an UNSUBSCRIBE gets.
  bool subscribes_in_flight() const {
    return !transaction_channels_.empty() ||
           std::any_of(subscribing_.begin(), subscribing_.end(),
                       [](const Subscribing& each) { return !each.added.empty(); });
  }
  bool transaction_failed() const { return !transaction_refusal_.empty(); }
  // What the reply to EXEC says of single commands changes what the client is.
  bool needs_exec_reply() const { return !transaction_channels_.empty() || transaction_hello_; }
  void drop_queued() {
    transaction_channels_.clear();
    transaction_names_ = false;
    transaction_hello_.reset();
  }

  resp::Protocol protocol_ = resp::Protocol::kResp2;
  User user_ = User::kShared;
  std::uint64_t user_hash_ = 0;  // of kOther: of his name
  std::string auth_user_;        // of the AUTH in flight
  std::optional<std::string> auth_name_;
  std::string name_;
  std::string library_name_, library_version_;  // CLIENT SETINFO
  // Its private connection is its own until it leaves or sends RESET.
  bool pinned_ = false;
  bool introduced_ = false;  // the private connection has the client's name, for good
  bool lent_name_ = false;   // ... until it is given back
  // When it last ran a script, which the server has since then, as it believes; not set: never.
  // See Session::server_left().
  TimePoint ran_script_at_{};
  std::uint32_t db_ = 0;
  bool in_multi_ = false;
  bool watching_ = false;
  bool watch_refused_ = false;  // by the proxy: what should have been guarded must not be executed
  // Why the server knows nothing of the transaction: each of its commands is answered with that.
  std::string transaction_refusal_;
  bool server_knows_best_ =
      false;  // its own tracking, or state changed inside a transaction: no local reads
  bool reply_off_ = false;
  bool reply_skip_ = false;
  copies::TouchedKeys transaction_;
  bool transaction_unknown_ = false;
  bool transaction_flush_ = false;
  bool transaction_changes_access_ = false;
  std::size_t transaction_queued_ = 0;            // commands: the elements of the reply to EXEC
  bool transaction_names_ = false;                // it has a CLIENT SETNAME
  std::optional<QueuedHello> transaction_hello_;  // the last one
  bool name_owed_ = false;                        // introduce() when the transaction is over
  std::vector<QueuedSubscription> transaction_channels_;
  enum class Debugger : std::uint8_t {
    kOff,
    kRefused,  // the client was told so, but may have sent the script already
    kNext,     // the next EVAL begins its session
    kBegins,   // nothing has come from it yet
    kRuns,
  } debugger_ = Debugger::kOff;
  bool hears_messages_ = false;
  Channels channels_, patterns_, shard_channels_;
  std::deque<Subscribing> subscribing_;
};

}  // namespace heatsink::proxy
