// SPDX-License-Identifier: Apache-2.0
// One connection to the server: requests out, replies back to whom they belong, in order.
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
#include "heatsink/net/net.h"
#include "heatsink/proxy/big_replies.h"
#include "heatsink/proxy/pending.h"
#include "heatsink/proxy/reply_timeouts.h"
#include "heatsink/proxy/ring.h"
#include "heatsink/redis/credentials.h"
#include "heatsink/resp/reply_scanner.h"
#include "heatsink/resp/writer.h"

namespace heatsink::proxy {

class Requester;
struct SharedState;

// Belongs to one worker's thread. A shared one serves many sessions and keeps each request until
// its reply begins, so that a read whose reply is too big to share can be asked again elsewhere. A
// private one has an owner, keeps nothing, and can be paused, which holds the server back. Failure
// is told once, to the worker.
class Upstream final : public net::FdHandler {
 public:
  enum class Login : std::uint8_t {
    kOwn,   // as the proxy's own user
    kNone,  // as a client that has said nothing yet
  };

  // What came of a request: the whole reply.
  struct Answer {
    bool ok = false;
    bool from_shared = false;   // the connection
    std::uint64_t bytes = 0;    // of the reply
    TimePoint read_at{};        // it had come by then
    std::string_view captured;  // the reply itself, of those that are kept
  };

  // Its worker; a played one in tests. Called in the loop's thread.
  class Host {
   public:
    virtual char* scratch() = 0;  // kScratchBytes, for the time of a call
    // Calls flush_dirty() before the turn ends.
    virtual void flush_later(Upstream& upstream) = 0;
    virtual void ready(Upstream& upstream) = 0;
    // It owes nothing any more, and may be freed when this turn ends.
    virtual void failed(Upstream& upstream, const std::string& reason) = 0;
    // The reply begins, or never will: before any of it is handed on.
    virtual void settle(Pending& pending, TimePoint now, copies::Shown shown) = 0;
    // It has ended: before the requester is told.
    virtual void answered(const Pending& pending, const Answer& answer) = 0;
    // Of a write that stands for those of several clients.
    virtual void gathered_lost(std::uint32_t number, const std::string& reason) = 0;
    // How big its reply is, or more than that, as soon as that is known.
    virtual void note_reply_size(const Pending& pending, std::uint64_t bytes) = 0;

   protected:
    ~Host() = default;
  };
  static constexpr std::size_t kScratchBytes = 64 * 1024;

  // All outlive it.
  Upstream(Host& host, net::EventLoop& loop, SharedState& shared, resp::Protocol protocol,
           Login login, Requester* owner);
  ~Upstream();
  Upstream(const Upstream&) = delete;

  void connect();  // failure is told from a later turn
  bool ready() const { return state_ == State::kReady; }
  bool was_ready() const { return was_ready_; }  // before it failed
  bool refused() const {
    return refused_;
  }  // it failed because the server did not let the proxy in

  // REQUIRES ready(). Sent when the turn ends, with all that came before it.
  void send(std::string_view request, Pending&& pending);
  // SELECT, before what is sent next. `told` (null: nobody waits for it) has the reply.
  void send_select(std::uint32_t db, Requester* told);
  // A request of the proxy's own; its reply is dropped.
  void send_own(std::initializer_list<std::string_view> args);
  // The rest of a request whose beginning was sent; private only.
  void send_more(std::string_view bytes);
  void flush();
  bool mark_dirty() { return !std::exchange(dirty_, true); }
  void flush_dirty() {
    dirty_ = false;
    flush();
  }

  // A private connection that goes from one owner to the next, or to none.
  void set_owner(Requester* owner) { owner_ = owner; }
  Requester* owner() const { return owner_; }
  void pause(bool paused);  // stop reading: the server's replies wait in the socket
  // Once what was asked before is answered, `request` is sent, and from then on every byte belongs
  // to the owner.
  void relay_raw(std::string_view request);

  // Half of a message has come: the client must see no other byte before the rest.
  bool in_message() const { return begun_ && (push_ || (ambiguous_ && pending_.empty())); }
  bool owes_nothing() const { return pending_.empty(); }
  bool in_big_reply() const {
    return begun_ && (too_big_to_share() || element_bytes_ > BigReplies::kBigBytes);
  }

  std::size_t unsent() const { return output_.size() - sent_; }
  std::uint64_t owed() const { return owed_; }    // bytes of replies to come, as far as expected
  TimePoint read_at() const { return read_at_; }  // what is being looked at was read before
  // Ends it if it owes replies and does not come forward with them (reply_timeouts.h).
  void fail_if_overdue(TimePoint now, Nanos limit);
  // Without what its requests refer to.
  std::size_t memory_bytes() const {
    return sizeof(*this) + output_.capacity() + pending_.capacity() * sizeof(Pending) +
           captured_.capacity() + held_.capacity();
  }
  // Gives back what a busy hour has left in its buffers.
  void shrink() {
    if (output_.empty()) output_.release();
    if (pending_.empty()) pending_ = {};
  }
  // Ends it with this reason: every pending request is answered with an error.
  void fail(const std::string& reason);

  resp::Protocol protocol() const { return protocol_; }
  void set_protocol(resp::Protocol protocol) { protocol_ = protocol; }
  Login login() const { return login_; }
  void set_login(Login login) { login_ = login; }
  // The database that the next request will meet, as far as is known when it is sent.
  static constexpr std::uint32_t kUnknownDb = UINT32_MAX;
  std::uint32_t db() const { return db_; }
  void set_db(std::uint32_t db) { db_ = db; }
  bool knows_db(std::uint32_t db) const {
    return (db == 0 && zero_known_) || known_dbs_.contains(db);
  }
  const std::string& hello_reply() const {
    return hello_reply_;
  }  // raw; empty if the server knows no HELLO

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
  void want_write(bool on);

  Host& host_;
  net::EventLoop& loop_;
  SharedState& shared_;
  resp::Protocol protocol_;
  Login login_;
  Requester* owner_;
  const bool was_private_;
  net::Stream socket_;
  State state_ = State::kConnecting;
  net::TimerId connect_timer_ = 0;  // until it is ready: first for connecting, then for the login
  bool accepted_ = false;           // the server, or its kernel, has taken the connection
  bool was_ready_ = false;
  bool refused_ = false;
  bool dirty_ = false;
  bool raw_ = false;
  std::string raw_request_;  // SYNC is refused while replies before it are on their way
  bool paused_ = false;
  bool writing_ = false;

  ByteBuffer output_;
  std::size_t sent_ = 0;  // bytes at the front of output_ that are on their way
  Ring<Pending> pending_;
  std::uint64_t owed_ = 0;
  ReplyTimeouts watch_;
  TimePoint read_at_{};

  resp::ReplyScanner scanner_;
  // Of the element now being read:
  bool begun_ = false;
  bool ambiguous_ = false;  // reply or message: known when it ends
  bool push_ = false;
  bool capture_ = false;                                  // ours: kept in captured_
  Requester* target_ = nullptr;                           // who gets its bytes; null: nobody
  ReplyQueue::Ticket target_ticket_ = ReplyQueue::kNone;  // as what; none: a message
  std::string head_;                                      // its bytes until the header is complete
  std::uint64_t element_bytes_ = 0;
  std::string captured_;
  bool holds_back_ = false;  // a collection's bytes are in held_ while it may turn out too big
  ByteBuffer held_;

  std::uint32_t db_ = 0;
  std::unordered_set<std::uint32_t> known_dbs_;
  bool zero_known_ = true;   // where every connection begins
  bool db_refused_ = false;  // the last SELECT of ours
  std::string hello_reply_;
};

}  // namespace heatsink::proxy
