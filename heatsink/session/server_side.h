// SPDX-License-Identifier: Apache-2.0
// Chooses the connection that carries each request of a client, and holds the one that is the
// client's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/command/request.h"
#include "heatsink/copies/permission_cache.h"
#include "heatsink/relief/client_state.h"
#include "heatsink/relief/client_traffic.h"
#include "heatsink/session/session_host.h"
#include "heatsink/session/step.h"
#include "heatsink/upstream/connection_owner.h"
#include "heatsink/upstream/upstreams.h"

namespace heatsink::proxy {

// One per client; the worker's thread. A client uses one connection at a time: shared ones, or its
// own, which has what a server keeps for a client (has_state()). A change waits until nothing of
// the client is in flight, so that effects keep the client's order. It and RESET alone change
// ClientState::pinned_ and name_owed_. No call of it that a request on a ready shared connection
// needs is virtual.
//
// Where a function returns null, `step` says how far the request came: it waits, or has failed with
// Request::Waited::refusal.
class ServerSide {
 public:
  // What it asks of the client's session. Implemented by Session, and by tests.
  class Client {
   public:
    virtual ConnectionOwner& connection_owner() = 0;  // gets the replies
    // The transaction, or a stream, is on the client's own connection.
    virtual bool has_more_state() const = 0;
    // Of EXEC, if the proxy queues the transaction; else nullopt.
    virtual std::optional<Destination> destination_of_exec() const = 0;
    virtual Step stall_for(Awaited why) = 0;
    virtual void map_changed() = 0;  // slots have other owners, or a cluster was found
    virtual void close_when_flushed() = 0;

   protected:
    ~Client() = default;
  };

  // All outlive it.
  ServerSide(const SessionParts& parts, ClientState& state, ClientTraffic& traffic, Client& client)
      : parts_(parts), state_(state), traffic_(traffic), client_(client) {}
  ServerSide(const ServerSide&) = delete;

  // ---- whose servers

  // Connections have the login of this user of a cluster; null: the proxy's.
  void serve(std::shared_ptr<const ClientUser> user) { user_ = std::move(user); }
  const std::shared_ptr<const ClientUser>& user() const { return user_; }
  Upstreams& upstreams() const { return user_ == nullptr ? parts_.upstreams : *user_->servers; }
  // There is a cluster: then the proxy queues transactions, and not the server.
  bool has_cluster() const { return upstreams().map_version() != 0; }
  // The user's login is on the client's own connection only.
  bool is_bound() const { return state_.user_ == ClientState::User::kOther && user_ == nullptr; }

  // ---- the connection of a request

  // In the client's database. `own_connection`: no shared one will do.
  Upstream* connection_for(Request& request, bool own_connection, Step& step);
  Upstream* own_for(Request& request, Step& step);
  // In any database. `urgent`: uses what is reserved, and asks a server that others found silent.
  Upstream* own_in_any_db(Request& request, Step& step, bool urgent = false);
  // Without a login, to check a password.
  Upstream* own_without_login(Request& request, Step& step);
  // The shared connection to the server that `to` names.
  Upstream* shared_at(const Destination& to, Request& request, Step& step);
  // The shared connection that connection_for() would return at once; else null.
  Upstream* ready_shared(Request& request);
  // The same without a look at its state.
  Upstream* shared_for(const Request& request) const {
    return upstreams().shared(state_.protocol_, destination_of(request)).connection;
  }
  // Null. Waits for the shared connection, or says why there is none.
  Upstream* without_shared(Request& request, resp::Protocol protocol, const Destination& to,
                           const Upstreams::Shared& shared, Step& step);
  // Requests of an old map of the cluster are in flight: a request of the new one must not overtake
  // them. Notes the new map if there are none.
  bool must_drain_first();

  // ---- the client's own connection

  Upstream* own() const { return own_.get(); }  // null: none
  // A message of the server is begun on it.
  bool is_in_message() const { return own_ != nullptr && own_->in_message(); }
  // It holds state that is lost with it.
  bool has_state() const {
    return state_.pinned_ || is_bound() || state_.watching_ || client_.has_more_state();
  }
  // Nothing binds the client to it.
  bool may_leave() const { return !has_state() && traffic_.in_flight() == 0 && own_->ready(); }
  bool may_share() const { return own_ == nullptr || may_leave(); }
  void leave_if_free() {
    if (own_ != nullptr && may_leave()) give_back(true);
  }
  // Gives it back, if there is one. `clean`: other clients may use it.
  void give_back(bool clean);
  // The client keeps it until it leaves or sends RESET.
  void pin();
  void unpin() { state_.pinned_ = false; }
  enum class Introduction : std::uint8_t { kDropped, kAwaited };  // what happens to its reply
  // Gives it the client's name and library.
  void introduce(Introduction how = Introduction::kDropped);
  void introduce_if_owed();
  // It speaks the client's protocol from now on.
  void follow_protocol();
  // For a read that is sent again: leads where `to` says. False: `error` has the reason, without
  // the prefix of errors.
  bool lead_to(const Destination& to, std::string& error);
  // It is in the client's database, or SELECT is on its way. REQUIRES own().
  bool is_own_in_right_db() { return right_db(*own_); }
  // Asks the server again whether the user may do this, if it is free. `waits`: for a command.
  void renew_right(const Request& request, const copies::Right& right, bool waits);
  // It is lost. The client's name goes with it.
  std::unique_ptr<Upstream> lose();

  // ---- to and from another process (docs/design/handover.md)

  // Nothing is under way on the client's own connection but `waiting` commands that wait (0 or 1).
  bool may_release(std::size_t waiting) const {
    return own_ == nullptr || own_->may_release(waiting);
  }
  std::optional<CarriedPrivate> carried() const;
  net::Stream release();  // REQUIRES own()
  // `before`: of the connection; nothing: there is none. False: the client cannot go on here.
  bool adopt(net::Stream connection, const std::optional<CarriedPrivate>& before);
  // WAIT asks all nodes, because the other process has not said which ones the client has written
  // to.
  void note_all_written();

  // Called by the worker.
  void server_moved();  // closes the connection to a server that is not used any more
  // Ends what a node owes that is no master of the cluster any more.
  void node_left(const redis::UpstreamAddress& server);

 private:
  Upstream* stalled(Awaited why, Step& step);
  static Upstream* refused(Request& request, std::string&& reason, Step& step);
  Destination destination_of(const Request& request) const;
  bool is_elsewhere(const Destination& to) const;
  bool acquire(const Destination& to, std::string& error, bool urgent = false);
  Upstream* own_failed(Request& request, const Destination& to, Step& step);
  Upstream* in_right_db(Upstream& connection, Request& request, Step& step);
  bool right_db(Upstream& connection);
  bool finds_no_server(Request& request, const Destination& to, Step& step);
  Upstream* server_is_down(Request& request, std::string_view problem, Step& step);
  Upstream* login_is_refused(Request& request, std::string_view problem, Step& step);

  const SessionParts& parts_;
  ClientState& state_;
  ClientTraffic& traffic_;
  Client& client_;
  std::unique_ptr<Upstream> own_;
  // In front of a cluster. Null: the proxy's, or is_bound().
  std::shared_ptr<const ClientUser> user_;
  std::uint64_t map_version_ = 0;  // of the requests in flight
};

}  // namespace heatsink::proxy
