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
#include <unordered_set>
#include <utility>

#include "heatsink/base/byte_buffer.h"
#include "heatsink/base/clock.h"
#include "heatsink/command/client_user.h"
#include "heatsink/command/pending.h"
#include "heatsink/command/reply_timeouts.h"
#include "heatsink/command/ring.h"
#include "heatsink/net/net.h"
#include "heatsink/redis/credentials.h"
#include "heatsink/redis/upstream_address.h"
#include "heatsink/resp/reply_scanner.h"
#include "heatsink/resp/writer.h"
#include "heatsink/upstream/big_replies.h"
#include "heatsink/upstream/servers_state.h"

namespace heatsink::proxy {

class ConnectionOwner;
class Requester;

// Belongs to one worker's thread. A shared connection serves many sessions. It keeps each request
// until its reply begins, so that a read whose reply is too big to share can be sent again
// elsewhere. A private connection has an owner and keeps no requests. It can be paused, which holds
// the server back. A failure is reported once, to the worker.
class Upstream final : public net::FdHandler {
 public:
  enum class Login : std::uint8_t {
    kOwn,   // as the proxy's own user, or as user()
    kNone,  // without a login, like a new client
  };

  // The whole reply to a request.
  struct Answer {
    bool ok = false;
    bool from_shared = false;   // it came on a shared connection
    std::uint64_t bytes = 0;    // of the reply
    TimePoint read_at{};        // the reply had arrived by then
    std::string_view captured;  // the bytes of the reply, if they were captured
  };

  // Implemented by the worker, and by tests. Called in the loop's thread.
  class Host {
   public:
    virtual char* scratch() = 0;  // kScratchBytes, for the time of a call
    // Calls flush_dirty() before the turn ends.
    virtual void flush_later(Upstream& upstream) = 0;
    virtual void ready(Upstream& upstream) = 0;
    // The connection owes nothing any more. The host may free it at the end of this turn.
    virtual void failed(Upstream& upstream, const std::string& reason) = 0;
    // The reply begins, or will never come. Called before any of it is handed on.
    virtual void settle(Pending& pending, TimePoint now, copies::Shown shown) = 0;
    // The reply has ended. Called before the requester hears of it.
    virtual void answered(const Pending& pending, const Answer& answer) = 0;
    // The server has refused the request with this error line. True: another server will execute
    // it, and `pending` has been taken. See Upstreams::reroute().
    virtual bool reroute(Upstream& from, Pending& pending, std::string_view request,
                         std::string_view error) = 0;
    // The combined write of several clients is lost.
    virtual void gathered_lost(std::uint32_t number, const std::string& reason) = 0;
    // The size of the reply, or a lower bound, as soon as it is known.
    virtual void note_reply_size(const Pending& pending, std::uint64_t bytes) = 0;
    // The server refused a write, because it is a replica.
    virtual void writes_refused() {}

   protected:
    ~Host() = default;
  };
  static constexpr std::size_t kScratchBytes = 64 * 1024;

  // All outlive it.
  Upstream(Host& host, net::EventLoop& loop, ServersState& shared, redis::UpstreamAddress& server,
           resp::Protocol protocol, Login login, ConnectionOwner* owner);
  ~Upstream();
  Upstream(const Upstream&) = delete;

  // Before connect(): it logs in as a client's user, who outlives it, instead of the proxy's.
  void log_in_as(const ClientUser& user) { user_ = &user; }
  const ClientUser* user() const { return user_; }  // null: the proxy's own
  void connect();                                   // a failure is reported in a later turn
  // connect() found that no server may be used. Call it again once there is one; it fails after
  // upstream.connect-wait.
  bool waits_for_server() const { return state_ == State::kConnecting && is_withheld_; }
  bool ready() const { return state_ == State::kReady; }
  bool was_ready() const { return was_ready_; }  // it was ready before it failed
  // It was opened before the server moved: nothing may be sent on it any more.
  bool is_outdated() const { return moves_ != server_.moves(); }
  bool refused() const { return refused_; }  // it failed because the server refused the login

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
  std::uint64_t take_commands() { return std::exchange(commands_, 0); }
  bool mark_dirty() { return !std::exchange(dirty_, true); }
  void flush_dirty() {
    dirty_ = false;
    flush();
  }

  // Hands a private connection from one owner to the next, or to none.
  void set_owner(ConnectionOwner* owner) { owner_ = owner; }
  ConnectionOwner* owner() const { return owner_; }
  bool is_private() const { return was_private_; }  // it had an owner when it was made
  void pause(bool paused);                          // stops reading: replies wait in the socket
  // Sends `request` once all earlier requests are answered. From then on every byte goes to the
  // owner.
  void relay_raw(std::string_view request);

  // To another process (upstream_handover.cc). True if the connection is private and plain, nothing
  // is under way on it, and it owes only the replies to `waiting` commands that wait (0 or 1).
  bool may_release(std::size_t waiting);
  bool is_plain() const { return socket_.is_plain(); }
  int fd() const { return socket_.fd(); }
  net::Stream release_stream();  // REQUIRES may_release(); then only destroy it
  // Instead of connect(): a connection of another process, in this state. Errors: those of
  // EventLoop::add().
  Status take_over(net::Stream stream, std::uint32_t db, bool knows_hello);
  void expect(Pending&& pending);  // a request that the other process has sent
  bool is_next_silent() { return !pending_.empty() && pending_.front().silent; }

  // Half of a message has been handed on: the client must see no other byte before the rest.
  bool in_message() const { return begun_ && (push_ || (ambiguous_ && pending_.empty())); }
  bool owes_nothing() const { return pending_.empty(); }
  std::size_t in_flight() const { return pending_.size(); }
  bool in_big_reply() const {
    return begun_ && (too_big_to_share() || element_bytes_ > BigReplies::kBigBytes);
  }

  std::size_t unsent() const { return output_.size() - sent_; }
  // The server takes requests more slowly than they come. On a shared connection new ones wait.
  bool is_read_slowly() const { return unsent() > shared_.options().stream_threshold.count; }
  std::uint64_t owed() const { return owed_; }    // expected bytes of replies to come
  TimePoint read_at() const { return read_at_; }  // the bytes being processed were read before then
  // Fails if the server owes replies and does not send them in time (reply_timeouts.h).
  void fail_if_overdue(TimePoint now, Nanos limit);
  // Without the memory that its requests point to.
  std::size_t memory_bytes() const {
    return sizeof(*this) + output_.capacity() + pending_.capacity() * sizeof(Pending) +
           captured_.capacity() + held_.capacity();
  }
  // Releases the buffers that a busy period has left.
  void shrink() {
    if (output_.empty()) output_.release();
    if (pending_.empty()) pending_ = {};
    if (captured_.empty()) std::string().swap(captured_);
    if (held_.empty()) held_.release();
  }
  // How long ago the oldest request was sent that has no whole reply; 0: none.
  Nanos owes_since(TimePoint now) {
    return pending_.empty() ? Nanos(0) : now - pending_.front().sent_at;
  }
  // Fails the connection: every pending request gets an error with this reason.
  void fail(const std::string& reason);
  // The same, for a server that must not execute what it has not executed yet: what this machine
  // has not delivered is dropped. The server still executes what its own kernel has received.
  void cut_off(const std::string& reason) {
    socket_.reset_at_close();
    fail(reason);
  }

  redis::UpstreamAddress& server() const { return server_; }
  resp::Protocol protocol() const { return protocol_; }
  void set_protocol(resp::Protocol protocol) { protocol_ = protocol; }
  Login login() const { return login_; }
  void set_login(Login login) { login_ = login; }
  // The database of the next request, as far as is known.
  static constexpr std::uint32_t kUnknownDb = UINT32_MAX;
  std::uint32_t db() const { return db_; }
  void set_db(std::uint32_t db) { db_ = db; }
  bool knows_db(std::uint32_t db) const {
    return (db == 0 && zero_known_) || known_dbs_.contains(db);
  }
  // The server will not refuse the SELECT of use_db(), or none is needed.
  bool may_use_db(std::uint32_t db) const { return db_ == db || knows_db(db); }
  const std::string& hello_reply() const {
    return hello_reply_;
  }  // raw bytes; empty if the server does not know HELLO

  void on_readable() override;
  void on_writable() override;

 private:
  enum class State : std::uint8_t { kConnecting, kHandshake, kReady, kFailed };

  bool is_shared() const { return owner_ == nullptr && !was_private_; }
  void go_on_connecting();
  void await_login();
  void start_handshake();
  void process(std::string_view bytes);
  bool begin_element();
  bool begin_reply();
  bool may_be_refused(const Pending& pending) const;
  bool may_be_refusal(const Pending& pending) const;
  bool aim(Pending& pending);
  bool end_refusal();
  void end_element();
  void finish_reply();
  void note_select_result(bool refused);
  void finish_handshake(bool ok);
  bool may_repeat(const Pending& pending) const;
  void repeat_elsewhere(Pending& pending);
  void hold_back(std::string_view bytes, bool ends);
  void hand_on(std::string_view bytes);
  void hand_on_held();
  void drop_request(Pending& pending);
  bool too_big_to_share() const;
  bool message_to_subscriber() const;
  bool may_be_message() const;
  bool is_silenced();
  void route(std::string_view bytes, bool ends);
  bool hand_on_whole(std::string_view bytes);
  void want_write(bool on);

  Host& host_;
  net::EventLoop& loop_;
  ServersState& shared_;
  redis::UpstreamAddress& server_;
  resp::Protocol protocol_;
  Login login_;
  const ClientUser* user_ = nullptr;
  ConnectionOwner* owner_;
  const bool was_private_;
  std::uint64_t moves_;  // of the server, before the connection was opened
  std::string where_;    // the server at that time
  net::Stream socket_;
  State state_ = State::kConnecting;
  net::TimerId connect_timer_ = 0;  // until ready: limits first the connecting, then the login
  bool accepted_ = false;           // the server, or its kernel, has accepted the connection
  bool was_ready_ = false;
  bool refused_ = false;
  bool is_withheld_ = false;
  bool dirty_ = false;
  bool raw_ = false;
  // Waits, because servers refuse SYNC while earlier replies are on their way.
  std::string raw_request_;
  bool paused_ = false;
  bool writing_ = false;

  ByteBuffer output_;
  std::size_t sent_ = 0;  // bytes at the front of output_ that have been sent
  Ring<Pending> pending_;
  std::uint64_t commands_ = 0;
  std::uint64_t owed_ = 0;
  ReplyTimeouts timeouts_;
  TimePoint read_at_{};

  resp::ReplyScanner scanner_;
  // The element that is being read:
  bool begun_ = false;
  bool ambiguous_ = false;  // reply or message: unknown until it ends
  bool push_ = false;
  bool capture_ = false;         // its bytes are kept in captured_
  bool is_refusal_ = false;      // perhaps a cluster's, so nothing is handed on before its end
  Requester* target_ = nullptr;  // receives its bytes; null: they are dropped
  ReplyQueue::Ticket target_ticket_ = ReplyQueue::kNone;  // its ticket there; kNone: a message
  std::string head_;                                      // its bytes until its header is complete
  std::uint64_t element_bytes_ = 0;
  std::string captured_;
  bool holds_back_ = false;  // held_ keeps a collection that may turn out too big
  ByteBuffer held_;

  std::uint32_t db_ = 0;
  std::unordered_set<std::uint32_t> known_dbs_;
  bool zero_known_ = true;   // database 0 exists: every connection begins in it
  bool db_refused_ = false;  // the proxy's last SELECT was refused
  std::string hello_reply_;
};

}  // namespace heatsink::proxy
