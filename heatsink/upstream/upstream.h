// SPDX-License-Identifier: Apache-2.0
// upstream: a worker's connections to the servers, of one server or a cluster: masters, replicas,
// users. This header runs one connection: it sends requests, and returns replies in order to their
// sessions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "heatsink/base/clock.h"
#include "heatsink/command/client_user.h"
#include "heatsink/command/pending.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/upstream_address.h"
#include "heatsink/resp/resp.h"
#include "heatsink/upstream/connection_db.h"
#include "heatsink/upstream/reply_reader.h"
#include "heatsink/upstream/sent_requests.h"
#include "heatsink/upstream/server_stream.h"
#include "heatsink/upstream/servers_state.h"
#include "heatsink/upstream/upstream_host.h"
#include "heatsink/upstream/upstream_login.h"

namespace heatsink::proxy {

class ConnectionOwner;
class Requester;

// Belongs to one worker's thread. A shared connection serves many sessions. It keeps each request
// until its reply begins, so that a read whose reply is too big to share can be sent again
// elsewhere. A private connection has an owner and keeps no requests. It can be paused, which holds
// the server back. A failure is reported once, to the worker.
//
// It is composed of the stream, the login, the requests that were sent, the reader of replies, and
// the database of the connection (docs/decisions/0135-a-connection-is-a-composition.md). What it
// does itself is their order: connecting, login, ready, failed.
class Upstream final : public net::FdHandler,
                       private ServerStream::Owner,
                       private ReplyReader::Connection {
 public:
  using Host = UpstreamHost;
  using Answer = UpstreamHost::Answer;
  using Login = UpstreamLogin::Kind;
  static constexpr std::size_t kScratchBytes = UpstreamHost::kScratchBytes;

  // All outlive it.
  Upstream(Host& host, net::EventLoop& loop, ServersState& shared, redis::UpstreamAddress& server,
           resp::Protocol protocol, Login login, ConnectionOwner* owner);
  ~Upstream();
  Upstream(const Upstream&) = delete;

  // Before connect(): it logs in as a client's user, who outlives it, instead of the proxy's.
  void log_in_as(const ClientUser& user) { login_.log_in_as(user); }
  const ClientUser* user() const { return login_.user(); }  // null: the proxy's own
  void connect() { stream_.connect(); }                     // a failure is reported in a later turn
  // connect() found that no server may be used. Call it again once there is one; it fails after
  // upstream.connect-wait.
  bool waits_for_server() const { return state_ == State::kConnecting && stream_.is_withheld(); }
  bool ready() const { return state_ == State::kReady; }
  bool was_ready() const { return was_ready_; }  // it was ready before it failed
  // It was opened before the server moved: nothing may be sent on it any more.
  bool is_outdated() const { return stream_.is_outdated(); }
  // It failed because the server refused the login.
  bool refused() const { return !login_.refusal().empty(); }

  // Sends a request at the end of the turn, after all earlier ones. REQUIRES ready().
  void send(std::string_view request, Pending&& pending);
  // Sends SELECT before the next request. `waiter` gets the reply; null: no session waits for it.
  void send_select(std::uint32_t db, Requester* waiter);
  // The next request runs in this database: SELECT goes before it if necessary. If the server
  // refuses SELECT, it refuses that request, too, or the connection fails.
  void use_db(std::uint32_t db);
  // True: use_db() has been called. False: the connection has not used this database before. SELECT
  // is on its way, and the server may refuse it; the caller tries again later.
  bool try_db(std::uint32_t db);
  // Sends a request of the proxy's own and drops its reply.
  void send_own(std::initializer_list<std::string_view> args);
  // Sends the rest of a request whose beginning was sent. Private connections only.
  void send_more(std::string_view bytes);
  void flush();
  // How many commands were sent, of clients and of the proxy's own, since the last call.
  std::uint64_t take_commands() { return requests_.take_commands(); }
  bool mark_dirty() { return !std::exchange(dirty_, true); }
  void flush_dirty() {
    dirty_ = false;
    flush();
  }

  // Hands a private connection from one owner to the next, or to none.
  void set_owner(ConnectionOwner* owner) { replies_.set_owner(owner); }
  ConnectionOwner* owner() const { return replies_.owner(); }
  bool is_private() const { return replies_.is_private(); }  // it had an owner when it was made
  void pause(bool paused) { stream_.pause(paused); }  // of reading: replies wait in the socket
  // Sends `request` once all earlier requests are answered. From then on every byte goes to the
  // owner.
  void relay_raw(std::string_view request);

  // To another process. True if the connection is private and plain, nothing is under way on it,
  // and it owes only the replies to `waiting` commands that wait (0 or 1).
  bool may_release(std::size_t waiting);
  bool is_plain() const { return stream_.is_plain(); }
  int fd() const { return stream_.fd(); }
  net::Stream release_stream();  // REQUIRES may_release(); then only destroy it
  // Instead of connect(): a connection of another process, in this state. Errors: those of
  // EventLoop::add().
  Status take_over(net::Stream stream, std::uint32_t db, bool knows_hello);
  // A request that the other process has sent.
  void expect(Pending&& pending) { requests_.expect(std::move(pending), loop_.now()); }
  bool is_next_silent() { return !requests_.empty() && requests_.front().silent; }

  // Half of a message has been handed on: the client must see no other byte before the rest.
  bool in_message() const { return replies_.in_message(); }
  bool in_big_reply() const { return replies_.in_big_reply(); }
  bool owes_nothing() const { return requests_.empty(); }
  std::size_t in_flight() const { return requests_.size(); }

  std::size_t unsent() const { return requests_.unsent(); }
  // The server takes requests more slowly than they come. On a shared connection new ones wait.
  bool is_read_slowly() const { return unsent() > shared_.options().stream_threshold.count; }
  std::uint64_t owed() const { return requests_.owed(); }  // expected bytes of replies to come
  // The bytes being processed were read before then.
  TimePoint read_at() const { return replies_.read_at(); }
  // Fails if the server owes replies and does not send them in time (reply_timeouts.h).
  void fail_if_overdue(TimePoint now, Nanos limit);
  // Without the memory that its requests point to.
  std::size_t memory_bytes() const {
    return sizeof(*this) + requests_.memory_bytes() + replies_.memory_bytes();
  }
  // Releases the buffers that a busy period has left.
  void shrink() {
    requests_.shrink();
    replies_.shrink();
  }
  // How long ago the oldest request was sent that has no whole reply; 0: none.
  Nanos owes_since(TimePoint now) { return requests_.owes_since(now); }
  // Fails the connection: every pending request gets an error with this reason.
  void fail(const std::string& reason) override;
  // The same, for a server that must not execute what it has not executed yet: what this machine
  // has not delivered is dropped. The server still executes what its own kernel has received.
  void cut_off(const std::string& reason) {
    stream_.reset_at_close();
    fail(reason);
  }

  redis::UpstreamAddress& server() const { return stream_.server(); }
  resp::Protocol protocol() const { return login_.protocol(); }
  void set_protocol(resp::Protocol protocol) { login_.set_protocol(protocol); }
  Login login() const { return login_.kind(); }
  void set_login(Login login) { login_.set_kind(login); }
  // Raw bytes; empty if the server does not know HELLO.
  const std::string& hello_reply() const { return login_.hello_reply(); }
  // The database of the next request, as far as is known.
  static constexpr std::uint32_t kUnknownDb = ConnectionDb::kUnknown;
  std::uint32_t db() const { return db_.now(); }
  void set_db(std::uint32_t db) { db_.set(db); }
  bool knows_db(std::uint32_t db) const { return db_.knows(db); }
  // The server will not refuse the SELECT of use_db(), or none is needed.
  bool may_use_db(std::uint32_t db) const { return db_.may_use(db); }

  void on_readable() override;
  void on_writable() override;

 private:
  enum class State : std::uint8_t { kConnecting, kHandshake, kReady, kFailed };

  void log_in();
  void become_ready();

  // ReplyReader::Connection
  bool reroute(Pending& pending, std::string_view request, std::string_view error) override {
    return host_.reroute(*this, pending, request, error);
  }
  void login_answered(bool ok, std::string_view reply) override;
  void raw_released() override { host_.flush_later(*this); }

  Host& host_;
  net::EventLoop& loop_;
  ServersState& shared_;
  State state_ = State::kConnecting;
  bool was_ready_ = false;
  bool dirty_ = false;

  ServerStream stream_;
  UpstreamLogin login_;
  ConnectionDb db_;
  SentRequests requests_;
  ReplyReader replies_;
};

}  // namespace heatsink::proxy
