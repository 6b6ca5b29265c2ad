// SPDX-License-Identifier: Apache-2.0
// Provides a worker's sessions with connections to the servers, however many servers there are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "heatsink/base/clock.h"
#include "heatsink/resp/resp.h"
#include "heatsink/upstream/carried_private.h"
#include "heatsink/upstream/destination.h"
#include "heatsink/upstream/upstream.h"

namespace heatsink::topology {
struct Redirect;
struct SlotMap;
}  // namespace heatsink::topology

namespace heatsink::proxy {

class ConnectionOwner;
class Requester;

// One per worker; its thread only. A session asks for a connection for each request, because only
// this class knows which server is responsible. docs/design/topology.md says what an implementation
// must promise; make_upstreams.h chooses it.
class Upstreams {
 public:
  static constexpr std::string_view kReplaced =
      "another node has replaced it, and it has not answered since";
  // Implemented by the worker, and by tests. Called on the worker's thread.
  class Host {
   public:
    virtual std::unique_ptr<Upstream> open(redis::UpstreamAddress& server, resp::Protocol protocol,
                                           Upstream::Login login, ConnectionOwner* owner) = 0;
    virtual void shared_decided(std::uint64_t session) = 0;
    // About the server that the copies come from; not called for others.
    virtual void server_is_back() = 0;
    virtual void server_left() = 0;  // it cannot be reached, and its connections are lost
    virtual void shared_renewed(TimePoint lost_at) = 0;
    // The server is no master of the cluster any more, for kLastAnswers if another one has taken
    // over, else for upstream.response-timeout: sessions give up what it owes for kLastAnswers.
    virtual void node_left(const redis::UpstreamAddress& server) = 0;

   protected:
    ~Host() = default;
  };

  // A master that another node has replaced may answer for so long: if it lives, it refuses with
  // MOVED what it has not executed, and the new master executes that.
  static constexpr Nanos kLastAnswers = Millis(250);

  virtual ~Upstreams() = default;

  // Changes when slots have other owners. Constant within a turn. Requests that were sent before a
  // change may be on their way to the old owner, so a session lets them be answered first.
  virtual std::uint64_t map_version() { return 0; }
  virtual std::shared_ptr<const topology::SlotMap> slot_map() { return nullptr; }
  // The masters of a cluster; empty: one server, which executes every command as a whole.
  virtual std::vector<redis::UpstreamAddress*> all_masters() { return {}; }

  // The shared connection to the server that `to` names. `connection` is set if it is ready.
  // Otherwise, if `down` is null, the connection is being opened, or requests wait for a server
  // that is away (upstream.connect-wait), and await_shared() wakes the session; if not, `down` says
  // which server is not reachable, and why. Valid until the worker's next turn.
  struct Shared {
    const redis::UpstreamAddress& server;
    Upstream* connection = nullptr;
    const std::string* down = nullptr;
    bool refuses_login = false;  // the server is there, but does not let the proxy in
  };
  virtual Shared shared(resp::Protocol protocol, const Destination& to) = 0;
  // Calls Host::shared_decided() once the connection that shared() would return is ready and
  // accepts more, or its server is known to be down.
  virtual void await_shared(resp::Protocol protocol, const Destination& to,
                            const Requester& session) = 0;
  // A ready shared connection to the same server as `connection`, for a command that needs no
  // client's state. Null: none.
  virtual Upstream* shared_beside(const Upstream& connection) = 0;
  // The server is known to be unreachable: a private connection to it could not be opened.
  virtual bool is_away(const Destination& to) = 0;

  // A private connection for this session. It is ready (from the pool), or Session::private_ready()
  // or private_failed() follows. Null: proxy.maximum-private-connections is reached; a few more are
  // reserved for `urgent` requests.
  struct Need {
    resp::Protocol protocol = resp::Protocol::kResp2;
    Upstream::Login login = Upstream::Login::kOwn;
    std::uint32_t db = 0;  // a connection in this database is preferred
    bool urgent = false;
  };
  virtual std::unique_ptr<Upstream> borrow(ConnectionOwner& session, const Destination& to,
                                           const Need& need) = 0;
  // Whether a request for `to` may use this private connection: its server could be borrow()'s
  // choice. A session without state on the connection then gives it back and borrows another.
  virtual bool carries(const Upstream& connection, const Destination& to) = 0;
  virtual void give_back(std::unique_ptr<Upstream> connection, bool clean) = 0;

  // A private connection that another process had for this session. Null: it cannot be used.
  virtual std::unique_ptr<Upstream> adopt(ConnectionOwner& /*session*/, net::Stream /*connection*/,
                                          const CarriedPrivate& /*state*/) {
    return nullptr;
  }
  // Frees a connection whose stream was released, at the end of the turn.
  virtual void discard(std::unique_ptr<Upstream> /*connection*/) {}

  // The reply to `pending` on `from` is this error line. True: another server will execute the
  // request, and `pending` has been taken. `request`: its bytes, if `pending` does not have them.
  virtual bool reroute(Upstream& /*from*/, Pending& /*pending*/, std::string_view /*request*/,
                       std::string_view /*error*/) {
    return false;
  }
  // The server to which a node leads; null: none, or one too many.
  virtual redis::UpstreamAddress* node_named_by(const topology::Redirect& /*redirect*/,
                                                const Upstream& /*from*/) {
    return nullptr;
  }

  // Called by its own connections.
  virtual void ready(Upstream& connection) = 0;
  virtual void failed(Upstream& connection, const std::string& reason) = 0;

  // Called by the worker.
  // A server has moved (redis::UpstreamAddress::moves()): closes the connections from before,
  // except for those that sessions hold (Session::server_moved()), and connects to the server that
  // it is now.
  virtual void server_moved() {}
  // There may be a new map: ends, after kLastAnswers, what is in flight to replaced masters.
  virtual void map_changed() {}
  virtual void check_timeouts(TimePoint now) = 0;
  virtual void wake_ready() = 0;          // wakes sessions whose connection has become free
  virtual void end_turn() = 0;            // frees connections that have failed
  virtual bool owes_nothing() const = 0;  // considers shared connections only
  virtual void shrink() = 0;              // releases buffers while the worker rests
  virtual std::uint64_t memory_bytes() const = 0;
};

// What opened the connection: `own`, unless it has the login of a client's user.
inline Upstreams& opener_of(const Upstream& connection, Upstreams& own) {
  return connection.user() != nullptr ? *connection.user()->servers : own;
}

}  // namespace heatsink::proxy
